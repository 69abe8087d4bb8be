import { render } from "preact";
import { App } from "./app.js";
import "./styles/base.css";
import "./styles/create.css";
import "./styles/lists.css";
import { applyTheme, storedTheme } from "./theme.js";

applyTheme(storedTheme());
render(<App />, document.getElementById("app")!);
