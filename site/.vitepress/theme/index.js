// VitePress's own theme, with colours for charts.
import DefaultTheme from "vitepress/theme";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (import.meta.env.SSR) return;
    // Links of the page that was loaded are relative to it. Those of the sidebar stay when the reader goes on to another page.
    for (const link of document.querySelectorAll("a[href]")) {
      const isHere = link.origin === location.origin && !link.getAttribute("href").startsWith("#");
      if (isHere) link.setAttribute("href", link.pathname + link.search + link.hash);
    }
  },
};
