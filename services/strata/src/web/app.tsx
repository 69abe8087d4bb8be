import { useEffect, useState } from "preact/hooks";
import { getStatistics } from "./api.js";
import { HomeView } from "./home-view.js";
import { PackageView } from "./package-view.js";
import { followLink, NO_SEARCH, useRoute } from "./route.js";
import { SearchBox } from "./search-box.js";
import { SearchView } from "./search-view.js";
import { storedTheme, switchTheme, type Theme } from "./theme.js";
import { useAnswer } from "./use-answer.js";

export function App() {
  const route = useRoute();
  const statistics = useAnswer("statistics", getStatistics);
  const search = route.view === "search" ? route.search : NO_SEARCH;
  useEffect(() => {
    document.title =
      route.view === "package"
        ? `${route.attributePath} · strata`
        : search.q === ""
          ? "strata"
          : `${search.q} · strata`;
  }, [route, search]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: it only catches clicks that links inside made
    <div class="page" onClick={followLink}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      {statistics.value?.sample && <SampleNotice />}
      <header class="top">
        <a class="mark" href="/" aria-label="strata, start page">
          <Mark />
          <span>strata</span>
        </a>
        <SearchBox search={search} />
        <nav class="links">
          <a href="/docs">API</a>
          <ThemeButton />
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {route.view === "home" && <HomeView statistics={statistics} />}
        {route.view === "search" && <SearchView search={route.search} />}
        {route.view === "package" && (
          <PackageView key={route.attributePath} attributePath={route.attributePath} version={route.version} />
        )}
      </main>
      <footer>
        <span>
          <kbd>/</kbd> search
        </span>
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
      </footer>
    </div>
  );
}

function SampleNotice() {
  return (
    <p class="notice" role="note">
      <strong>This is a sample:</strong> a few hundred packages with invented commits. The real history comes with{" "}
      <code>strata sync --manifest URL --public-key KEY</code> or <code>strata ingest channel URL</code>.
    </p>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">
      <path
        class="layer-1"
        d="M2 7c4-3.4 6.400 1.700 9.600-.8S16.400 4.400 22 5.400v4c-5.600-1-7.200-1-10.400.800S6 7.600 2 11z"
      />
      <path
        class="layer-2"
        d="M2 12.500c4-3.400 6.400 1.700 9.600-.8s4.800-1.800 10.400-.8v4c-5.600-1-7.200-1-10.400.8S6 13.100 2 16.500z"
      />
      <path class="layer-3" d="M2 18c4-3.400 6.400 1.700 9.600-.8s4.800-1.800 10.400-.8V21H2z" />
    </svg>
  );
}

const THEME_LABELS: Record<Theme, string> = {
  system: "Colours: as the system",
  light: "Colours: light",
  dark: "Colours: dark",
};

function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <button
      type="button"
      class="icon-button"
      title={THEME_LABELS[theme]}
      aria-label={THEME_LABELS[theme]}
      onClick={() => setTheme(switchTheme(theme))}
    >
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2" />
        {theme !== "light" && (
          <path
            d={theme === "dark" ? "M12 4a8 8 0 0 0 0 16z M12 4a8 8 0 0 1 0 16z" : "M12 4a8 8 0 0 1 0 16z"}
            fill="currentColor"
          />
        )}
      </svg>
    </button>
  );
}
