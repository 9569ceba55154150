/** Bundles a program of these tests from sources, for processes of their own. */
import { build } from "esbuild";
import { assembled } from "../../../scripts/build-plugins.mjs";

/** Workers' texts are not needed: these programs read on one thread. */
const withoutWorkers = {
  name: "without-workers",
  setup({ onLoad }: Parameters<NonNullable<Parameters<typeof build>[0]["plugins"]>[number]["setup"]>[0]) {
    onLoad({ filter: /worker\.ts$/ }, ({ suffix }) =>
      suffix === "?worker-source" ? { contents: 'export default "";', loader: "js" } : undefined,
    );
  },
};

export function bundleProgram(entry: string, outfile: string): Promise<unknown> {
  return build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
    plugins: [withoutWorkers, assembled],
  });
}
