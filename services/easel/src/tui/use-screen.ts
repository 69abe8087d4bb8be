import { useStdout } from "ink";
import { useEffect, useState } from "react";

export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** Size of the terminal, following its changes. */
export function useScreen(): Screen {
  const { stdout } = useStdout();
  const measure = (): Screen => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const [screen, setScreen] = useState(measure);
  useEffect(() => {
    const update = (): void => setScreen({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
    stdout.on("resize", update);
    return () => {
      stdout.off("resize", update);
    };
  }, [stdout]);
  return screen;
}
