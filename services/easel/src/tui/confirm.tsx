import { Box, Text } from "ink";
import { useContext, useLayoutEffect } from "react";
import { KeyboardContext, useKeyListener } from "./use-keys.js";

interface Props {
  readonly question: string;
  readonly onAnswer: (yes: boolean) => void;
}

/** Nothing but `y` is a yes. */
export function Confirm({ question, onAnswer }: Props) {
  const { typingNow } = useContext(KeyboardContext);
  // a q here says no, it does not leave
  useLayoutEffect(() => {
    typingNow.current = true;
    return () => {
      typingNow.current = false;
    };
  }, [typingNow]);
  useKeyListener((input) => onAnswer(input.toLowerCase() === "y"));
  return (
    <Box borderStyle="round" borderColor="red" paddingX={1}>
      <Text>
        {question} <Text bold>y</Text> = yes, any other key = no
      </Text>
    </Box>
  );
}
