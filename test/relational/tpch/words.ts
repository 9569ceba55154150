/** Names and words that the TPC-H specification (revision 3, section 4.2) has rows drawn from. Comments and part names draw from fewer. */

export const regions = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"] as const;

/** Nations by their keys, each with the key of its region. */
export const nations: readonly (readonly [name: string, region: number])[] = [
  ["ALGERIA", 0],
  ["ARGENTINA", 1],
  ["BRAZIL", 1],
  ["CANADA", 1],
  ["EGYPT", 4],
  ["ETHIOPIA", 0],
  ["FRANCE", 3],
  ["GERMANY", 3],
  ["INDIA", 2],
  ["INDONESIA", 2],
  ["IRAN", 4],
  ["IRAQ", 4],
  ["JAPAN", 2],
  ["JORDAN", 4],
  ["KENYA", 0],
  ["MOROCCO", 0],
  ["MOZAMBIQUE", 0],
  ["PERU", 1],
  ["CHINA", 2],
  ["ROMANIA", 3],
  ["SAUDI ARABIA", 4],
  ["VIETNAM", 2],
  ["RUSSIA", 3],
  ["UNITED KINGDOM", 3],
  ["UNITED STATES", 1],
];

export const segments = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
export const priorities = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
export const instructions = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
export const shipModes = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

export const returnFlags = ["R", "A", "N"];
export const lineStatuses = ["O", "F"];
export const orderStatuses = ["O", "F", "P"];

export const manufacturers = [1, 2, 3, 4, 5].map((m) => `Manufacturer#${m}`);
/** Five of each manufacturer, in the manufacturers' order. */
export const brands = [1, 2, 3, 4, 5].flatMap((m) => [1, 2, 3, 4, 5].map((n) => `Brand#${m}${n}`));
export const partTypes = phrases(
  ["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
  ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
  ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
);
export const containers = phrases(
  ["SM", "LG", "MED", "JUMBO", "WRAP"],
  ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"],
);

export const colours =
  "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood chartreuse coral cream".split(
    " ",
  );

/** Query 13 looks for "special" with "requests" behind it. */
export const commentWords =
  "special requests pending accounts deposits packages ironic theodolites furiously quickly blithely final express unusual bold foxes pinto beans sleep haggle nag among across according".split(
    " ",
  );

/** All ways of taking a word of each list. */
function phrases(...lists: readonly (readonly string[])[]): string[] {
  return lists.reduce<string[]>((starts, words) => {
    const next = starts.length === 0 ? [""] : starts.map((start) => `${start} `);
    return next.flatMap((start) => words.map((word) => start + word));
  }, []);
}
