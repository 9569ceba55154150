/** Fields of CSV files out of dates and times. */

import { type TextBuffer, WIDEST } from "../text-buffer.js";
import { dateText, timestampText } from "../value-texts.js";
import type { Part } from "./csv-parts.js";
import { type Fill, NOTHING, placeText, viewOf } from "./csv-places.js";

const MILLISECONDS_OF_DAY = 86_400_000;
/** Days since 1970 of the years 0 to 9999. Others are written another way. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;

export function dayFiller(data: Uint8Array): Fill {
  const view = viewOf(data);
  return (places, row, count) => {
    const { starts, lengths, from, own } = places;
    let last = Number.NaN;
    for (let i = 0; i < count; i++) {
      const day = view.getInt32(4 * (row + i), true);
      if (day === last) {
        starts[from + i] = starts[from + i - 1];
        lengths[from + i] = lengths[from + i - 1];
      } else if (day >= FIRST_DAY && day <= LAST_DAY) {
        own.reserve(WIDEST);
        starts[from + i] = ~own.at;
        own.day(day);
        lengths[from + i] = DAY;
      } else placeText(places, from + i, dateText(day * MILLISECONDS_OF_DAY));
      last = day;
    }
    return NOTHING;
  };
}

/** Length of 2024-02-29. */
const DAY = 10;

/** Units of a second, and the digits behind the point that they take. */
const UNITS: readonly { readonly perSecond: number; readonly digits: number }[] = [
  { perSecond: 1, digits: 0 },
  { perSecond: 1e3, digits: 3 },
  { perSecond: 1e6, digits: 6 },
  { perSecond: 1e9, digits: 9 },
];

export function timestampFiller({ data, unit, zone }: Part & { kind: "timestamp" }): Fill {
  const { perSecond, digits } = UNITS[unit];
  const view = viewOf(data);
  return (places, row, count) => {
    const { starts, lengths, from, own } = places;
    let last = Number.NaN;
    for (let i = 0; i < count; i++) {
      const at = 8 * (row + i);
      const near = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
      if (near === last) {
        starts[from + i] = starts[from + i - 1];
        lengths[from + i] = lengths[from + i - 1];
        continue;
      }
      const seconds = Math.floor(near / perSecond);
      const days = Math.floor(seconds / 86_400);
      if (!Number.isSafeInteger(near) || days < FIRST_DAY || days > LAST_DAY) {
        placeText(places, from + i, timestampText(view.getBigInt64(at, true), unit, zone ? "Z" : ""));
        last = Number.NaN; // others may be as near
        continue;
      }
      last = near;
      own.reserve(WIDEST);
      starts[from + i] = ~own.at;
      own.day(days);
      own.byte(T);
      own.time(seconds - days * 86_400);
      writeFraction(own, near - seconds * perSecond, digits);
      if (zone) own.byte(Z);
      lengths[from + i] = own.at - ~starts[from + i];
    }
    return NOTHING;
  };
}

const T = 84;
const Z = 90;
const POINT = 46;

/** As many groups of three digits as the fraction needs. */
function writeFraction(out: TextBuffer, fraction: number, digits: number): void {
  if (fraction === 0) return;
  let [rest, left] = [fraction, digits];
  for (; rest % 1000 === 0; rest /= 1000) left -= 3;
  out.byte(POINT);
  out.digits(rest, left);
}
