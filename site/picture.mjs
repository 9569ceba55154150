// What chats and networks show of a link beside its title: the page's address, and a picture, which is the built site's first screen
// without its buttons. Open Graph wants both absolute.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright";
import { softwareBrowser } from "../scripts/software-gpu.mjs";
import { pageUrl, siteUrl } from "./address.mjs";
import { serve } from "./serve.mjs";

const FILE = "picture.png";
/** Pixels, as networks recommend; the page is laid out smaller, so that its text can be read in a small picture. */
const [WIDTH, HEIGHT] = [1200, 630];
const SCALE = 1.2;

const STYLE = `
  .VPNav, .landing .buttons, .landing .figures a { display: none !important; }
  .landing { position: fixed !important; inset: 0; z-index: 99; gap: 32px !important; margin: 0 !important;
    padding: 0 32px !important; background: var(--vp-c-bg); }
`;

/** Adds a built site's picture, and names picture and addresses on its pages. Without a browser there is no picture. */
export async function addOpenGraph(folder) {
  const picture = (await drawn(folder)) ? pictureTags() : [];
  const pages = readdirSync(folder, { recursive: true }).map((path) => path.replaceAll("\\", "/"));
  for (const page of pages.filter((path) => path.endsWith(".html"))) {
    const file = join(folder, page);
    const text = readFileSync(file, "utf8");
    if (!text.includes('property="og:title"')) continue; // the page for addresses that lead nowhere
    const tags = [`<meta property="og:url" content="${pageUrl(page)}">`, ...picture];
    writeFileSync(file, text.replace("</head>", `${tags.join("")}</head>`));
  }
}

function pictureTags() {
  const alt =
    "warpmap's inserts and finds a second beside those of cuCollections, boost and JavaScript's Map";
  const picture = { "": new URL(FILE, siteUrl()).href, ":width": WIDTH, ":height": HEIGHT, ":alt": alt };
  return [
    ...Object.entries(picture).map(
      ([name, content]) => `<meta property="og:image${name}" content="${content}">`,
    ),
    '<meta name="twitter:card" content="summary_large_image">',
  ];
}

/** @returns whether there was a browser */
async function drawn(folder) {
  let browser;
  try {
    browser = await chromium.launch(softwareBrowser());
  } catch (error) {
    console.warn(`Links have no picture, since no browser started: ${error.message.split("\n")[0]}`);
    return false;
  }
  const server = await serve({ folder });
  try {
    const page = await browser.newPage({
      viewport: { width: WIDTH / SCALE, height: HEIGHT / SCALE },
      deviceScaleFactor: SCALE,
      colorScheme: "light",
    });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.addStyleTag({ content: STYLE });
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(folder, FILE) });
    return true;
  } finally {
    await browser.close();
    server.close();
  }
}
