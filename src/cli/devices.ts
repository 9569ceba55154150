/** `warpmap devices`: which engines there are, why others are not, and which one `auto` picks. */
import { type DeviceListing, listDevices, openDevice } from "../device.js";
import { visible } from "../io/visible.js";
import { renderGrid } from "./grid.js";
import { type Host, isStyled, widthOf } from "./host.js";

/** Options as commander gives them. */
export interface DevicesCommandOptions {
  readonly software?: boolean;
  readonly json?: boolean;
}

/** Runs the command. */
export async function devices({ software, json }: DevicesCommandOptions, host: Host): Promise<void> {
  const listings = await listDevices({ software });
  using picked = await openDevice({ software });
  const { backend, name, reason } = picked.info;
  if (json) {
    const report = { auto: { backend, name, reason }, devices: listings.map(asJson) };
    host.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return;
  }
  const { text } = renderGrid(
    [
      { name: "backend", cells: listings.map(engineName) },
      { name: "device", cells: listings.map(deviceName) },
      { name: "available", cells: listings.map(({ available }) => (available ? "yes" : "no")) },
    ],
    { width: widthOf(host.stdout), styled: isStyled(host.stdout, host.env) },
  );
  host.stdout.write(text);
  const missing = listings.filter(({ available }) => !available);
  for (const listing of missing)
    host.stdout.write(`\n${engineName(listing)} is not available: ${visible(listing.reason)}\n`);
  const auto = software ? "auto with --software" : "auto";
  host.stdout.write(`\n${auto} picks ${backend}, ${visible(name)}. ${visible(reason)}\n`);
}

function engineName({ backend, software }: DeviceListing): string {
  return software ? `${backend} --software` : backend;
}

/** The name, and what the driver says of the GPU where it does. */
function deviceName({ info }: DeviceListing): string {
  if (!info) return "–";
  const { memory, driver } = info.hardware;
  return [info.name, memory, driver && `driver ${driver}`].filter(Boolean).join(", ");
}

function asJson({ backend, software, available, reason, info }: DeviceListing): object {
  return { ...info, backend, software, available, reason };
}
