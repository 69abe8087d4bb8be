import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { routes } from "../contract/routes.js";
import { explainFailure } from "../generation/explain-failure.js";
import { checkPrompt } from "../generation/resolve-request.js";
import type { EaselParts } from "./easel-parts.js";

export function expandRoutes({ expander, models }: EaselParts): ImplementedRoute[] {
  return [
    implement(routes.expand, async ({ body, signal }) => {
      checkPrompt("prompt", body.prompt);
      const { family } = await models.resolve(body.model);
      const { prompt, variations = 1, seed } = body;
      try {
        const expanded = await expander.expand({
          prompt,
          family,
          variations,
          signal,
          ...(seed !== undefined && { seed }),
        });
        return { original: prompt, expanded, model: expander.name };
      } catch (error) {
        throw explainFailure(error);
      }
    }),
  ];
}
