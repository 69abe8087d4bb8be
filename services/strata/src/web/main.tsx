import { render } from "preact";
import { App } from "./app.js";
import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/results.css";
import "./styles/package.css";
import "./styles/plots.css";
import { applyStoredTheme } from "./theme.js";

applyStoredTheme();
render(<App />, document.getElementById("app")!);
