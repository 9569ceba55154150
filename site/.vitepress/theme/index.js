// VitePress's own theme, with colours for charts.
import DefaultTheme from "vitepress/theme";
import { nextTick } from "vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (import.meta.env.SSR) return;
    // The first page has no landmark "main" of its own: see transformHtml in ../config.mjs
    router.onAfterPageLoad = async () => {
      await nextTick();
      const content = document.querySelector("#VPContent");
      if (content?.classList.contains("is-home")) content.setAttribute("role", "main");
      else content?.removeAttribute("role");
    };
    // Links of the page that was loaded are relative to it. Those of the sidebar stay when the reader goes on to another page.
    for (const link of document.querySelectorAll("a[href]")) {
      const isHere = link.origin === location.origin && !link.getAttribute("href").startsWith("#");
      if (isHere) link.setAttribute("href", link.pathname + link.search + link.hash);
    }
  },
};
