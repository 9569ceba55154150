/** What Vite makes of imports that are no modules. */
declare module "*.css";

declare module "virtual:examples" {
  const groups: readonly {
    readonly title: string;
    readonly programs: readonly { readonly name: string; readonly title: string; readonly source: string }[];
  }[];
  export default groups;
}
