// What has to agree about a version before it is published.

/**
 * @param pkg package.json @param lock package-lock.json @param changelog text of CHANGELOG.md
 * @param tag of the commit that is released; undefined before there is one
 * @returns faults in words
 */
export function versionFaults({ pkg, lock, changelog, tag }) {
  const { version } = pkg;
  const faults = [];
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) faults.push(`package.json: "${version}" is no version`);
  for (const locked of [lock.version, lock.packages[""].version])
    if (locked !== version)
      faults.push(`package-lock.json is of ${locked}, package.json of ${version}: run npm install`);
  const [, newest, mark] = /^## (\S+)(?: \((.*)\))?$/m.exec(changelog) ?? [];
  if (newest !== version) faults.push(`CHANGELOG.md begins with ${newest}, package.json has ${version}`);
  if (tag === undefined) return faults;
  if (tag !== `v${version}`) faults.push(`the tag is ${tag}, and should be v${version}`);
  if (mark === undefined || !/^\d{4}-\d\d-\d\d$/.test(mark))
    faults.push(
      `CHANGELOG.md: write the day of the release after ${newest}, as in "## ${newest} (2026-12-24)"`,
    );
  return faults;
}
