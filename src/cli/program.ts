/**
 * The command line: commands, their options and help, by the package commander. What a command does is in its own file,
 * loaded when it runs. run() prints, never throws, and answers with the exit status.
 */
import { readFile } from "node:fs/promises";
import { Argument, Command, CommanderError, Option } from "commander";
import { knownEngines } from "../engine/registry.js";
import { FORMATS } from "../io/formats.js";
import { checkDevice } from "./device-choice.js";
import { fail, WRONG_CALL } from "./failure.js";
import type { Host } from "./host.js";

const NAME = "warpmap";

/** Runs the command that `args` (without node and the script) ask for. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  let asked = NAME;
  try {
    const program = await makeProgram(host);
    if (program.commands.some((command) => command.name() === args[0])) asked += ` ${args[0]}`;
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")) {
      return error.exitCode === 0 ? 0 : WRONG_CALL;
    }
    return fail(error, host, asked);
  }
}

async function makeProgram(host: Host): Promise<Command> {
  const program = new Command(NAME)
    .description(
      "Massively parallel hash tables on the GPU (WebGPU) and the CPU, and the joins and group-bys that stand on them.",
    )
    .version(await version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      outputError: () => {}, // fail() words it
      getOutHelpWidth: () => host.stdout.columns ?? 100,
      getErrHelpWidth: () => host.stderr.columns ?? 100,
    })
    .addHelpText("after", EXAMPLES);
  addDevices(program, host);
  addJoin(program, host);
  addGroup(program, host);
  addDistinct(program, host);
  addWorker(program, host);
  addCluster(program, host);
  addBench(program, host);
  addCompletion(program, host);
  return program;
}

const EXAMPLES = `
Examples:
  $ warpmap devices
  $ warpmap join flights.parquet airports.csv --on origin=iata
  $ warpmap join left.csv right.csv --on id=id,day=date --out joined.parquet
  $ warpmap group flights.parquet --by origin --agg count,mean:delay
  $ warpmap distinct flights.parquet --on origin,destination
  $ gunzip -c log.csv.gz | warpmap group - --format csv --by status

Exit status: 0; 1 for an error in the data or the run; 2 for a wrong call.`;

/** What the arguments of commands are. */
const FILE = "a file: .csv, .tsv, .parquet or .arrow, also with .gz; - is standard input";

function addDevices(program: Command, host: Host): void {
  program
    .command("devices")
    .description("list the engines that can run here, and which one is picked")
    .option("--software", "also look for software GPUs (SwiftShader, llvmpipe)")
    .option("--json", "print one JSON object")
    .action(async (options) => (await import("./devices.js")).devices(options, host));
}

function addJoin(program: Command, host: Host): void {
  const command = program
    .command("join")
    .description("join two tables on equal keys")
    .argument("<left>", FILE)
    .argument("<right>", "another")
    .requiredOption(
      "--on <pairs>",
      "key columns: left=right, or one name for both; several with commas between them or with --on again",
      commaSeparated,
    )
    .addOption(
      choice("--how <kind>", "which rows come out", [
        "inner",
        "left",
        "right",
        "full",
        "semi",
        "anti",
      ]).default("inner"),
    )
    .option("--select <columns>", "columns of the result, in this order (default: all)", commaSeparated)
    .option("--nulls-equal", "a null key equals a null key (else rows with one match nothing)");
  addTableOptions(command)
    .addHelpText(
      "after",
      `
Kinds: left, right and full also keep rows of that side, or of both, that match nothing; semi keeps the left rows that match,
anti those that do not.

Key columns come out once, under the left's name; any other right column whose name is taken gets the suffix _right.

Examples:
  $ warpmap join flights.parquet airports.csv --on origin=iata
  $ warpmap join orders.csv items.csv --on id=order_id,region=region --out joined.parquet --json
  $ warpmap join flights.parquet airports.csv --on origin=iata --how anti`,
    )
    .action(async (left, right, options) => (await import("./join.js")).join(left, right, options, host));
}

function addGroup(program: Command, host: Host): void {
  const command = program
    .command("group")
    .description("group the rows of a table by equal keys")
    .argument("<file>", FILE)
    .requiredOption(
      "--by <columns>",
      "key columns; several with commas between them or with --by again",
      commaSeparated,
    )
    .option(
      "--agg <aggregates>",
      "what to compute for each group: count,sum:x,most=max:y (default: count)",
      commaSeparated,
    );
  addTableOptions(command)
    .addHelpText(
      "after",
      `
Aggregates: count (rows), count:x (not null), countDistinct:x, approxCountDistinct:x, sum:x, mean:x, var:x, std:x,
median:x, quantile0.9:x, min:x, max:x, first:x, last:x. Their columns are called count, count_x, sum_x and so on, or as NAME=sum:x says. Groups come in the order of their first rows.

Examples:
  $ warpmap group flights.parquet --by origin,destination --agg count,mean:delay
  $ warpmap group sales.csv --by shop --agg total=sum:price,countDistinct:customer --out shops.csv`,
    )
    .action(async (file, options) =>
      (await import("./group.js")).group(file, { ...options, agg: options.agg ?? "count" }, host),
    );
}

function addDistinct(program: Command, host: Host): void {
  const command = program
    .command("distinct")
    .description("leave out rows that equal an earlier one in some columns")
    .argument("<file>", FILE)
    .requiredOption(
      "--on <columns>",
      "columns to compare; several with commas between them or with --on again",
      commaSeparated,
    )
    .option("--select <columns>", "columns of the result, in this order (default: all)", commaSeparated);
  addTableOptions(command)
    .addHelpText(
      "after",
      `
Rows keep all their columns and their order.

Example:
  $ warpmap distinct flights.parquet --on origin,destination --out routes.csv`,
    )
    .action(async (file, options) => (await import("./group.js")).distinct(file, options, host));
}

/** Options of commands that make a table of tables. */
function addTableOptions(command: Command): Command {
  command
    .option(
      "--type <types>",
      "types of csv columns in place of inferred ones: code=utf8,n=int64; utf8 also of bytes in parquet files",
      commaSeparated,
    )
    .option(
      "--delimiter <character>",
      "what is between the fields of csv inputs (default: a comma; in .tsv a tab)",
    )
    .option("--quote <character>", `what is around fields of csv inputs, "" for nothing (default: ")`)
    .option("--no-header", "csv inputs have no line of names; columns are called column_1, column_2, ...")
    .option("--out <file>", "write the result to a file and do not print it; - is standard output")
    .addOption(choice("--format <format>", "what - is, and files of other extensions", FORMATS))
    .option("--limit <rows>", "at most so many rows of the result")
    .option(
      "--memory <amount>",
      "keep the work within an amount, as 512M or 2G, by temporary files; rows then come in any order",
    )
    .option("--tmp <folder>", "where the temporary files of --memory go (default: the system's place)");
  addWorkersOptions(command);
  return addDeviceOptions(command)
    .option("--explain", "also say how it was done: strategy, reason, time by phase")
    .option("--json", "print one JSON object: rows, columns, seconds, device (and plan, with --explain)");
}

/** Options of commands whose work several processes can do, by the package warpmap-cluster. */
function addWorkersOptions(command: Command): void {
  command
    .option(
      "--workers <n>",
      "work on so many processes of this machine; inputs may be folders and globs, --out a folder of parts",
    )
    .option(
      "--queue <url>",
      "work on the workers of a queue: redis://HOST, rediss://HOST or postgres://HOST/DATABASE",
    )
    .option(
      "--exchange <url>",
      "with --queue, where workers hand files to each other: file:///shared/dir or s3://bucket/prefix",
    );
}

function addWorker(program: Command, host: Host): void {
  const command = program
    .command("worker")
    .description("work for joins and group-bys of a queue, until it is stopped")
    .requiredOption("--queue <url>", "redis://HOST, rediss://HOST or postgres://HOST/DATABASE")
    .option("--jobs <n>", "jobs at once, each in a process of its own (default: 1)")
    .option("--memory <amount>", "what all jobs work within, as 4G (default: half of the machine's)")
    .option(
      "--data <folder>",
      "read and write nothing outside of this folder: inputs, exchange and output; may be given again",
      repeated,
    )
    .option("--tmp <folder>", "where temporary files go (default: the system's place)");
  addDeviceOptions(command)
    .addHelpText("after", WORKER)
    .action(async (options) => (await import("./cluster.js")).worker(options, host));
}

const WORKER = `
All machines see the same files under the same paths. After SIGTERM it ends its jobs and takes no more.

Examples:
  $ warpmap worker --queue redis://queue.example:6379 --data /shared
  $ warpmap join 'l/*.parquet' 'r/*.parquet' --on id --queue redis://queue.example:6379 --exchange file:///shared/x --out /shared/out`;

function addCluster(program: Command, host: Host): void {
  const cluster = program.command("cluster").description("look after the workers of a queue");
  cluster
    .command("status")
    .description("list workers and count jobs")
    .requiredOption("--queue <url>", "redis://HOST, rediss://HOST or postgres://HOST/DATABASE")
    .option("--json", "print one JSON object")
    .action(async (options) => (await import("./cluster.js")).status(options, host));
  cluster
    .command("clean")
    .description("remove what runs left whose coordinator is gone for five minutes")
    .requiredOption("--queue <url>", "redis://HOST, rediss://HOST or postgres://HOST/DATABASE")
    .requiredOption("--exchange <url>", "where workers hand files to each other")
    .option("--json", "print one JSON object")
    .action(async (options) => (await import("./cluster.js")).clean(options, host));
}

/** An option that may be given several times. */
function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function addCompletion(program: Command, host: Host): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", COMPLETION)
    .action(async (shell) => {
      host.stdout.write((await import("./completion.js")).completionScript(program, shell));
    });
}

const COMPLETION = `
Examples:
  $ warpmap completion bash >> ~/.bashrc
  $ warpmap completion zsh > "\${fpath[1]}/_warpmap"
  $ warpmap completion fish > ~/.config/fish/completions/warpmap.fish`;

/** An option with choices. The command checks them, and words it. */
function choice(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...choices];
  return option;
}

/** An option given again adds to what it said before. */
function commaSeparated(value: string, before?: string): string {
  return before === undefined ? value : `${before},${value}`;
}

function addBench(program: Command, host: Host): void {
  const command = program
    .command("bench")
    .description("measure this machine")
    .argument("<name>", "which benchmark; they are listed below")
    .option("--size <n>", "entries, as 1048576 or 2^20 (default: the benchmark's own sizes)")
    .option("--runs <n>", "timed runs of each figure, at least (default: the benchmark's own)")
    .option(
      "--sweep <what>",
      "vary size or load (static-map), selectivity, multiplicity or skew (join), or skew (group)",
    )
    .option("--json <file>", "also write the numbers to a file; - prints them in place of the table")
    .option("--svg <file>", "also draw them");
  addDeviceOptions(command)
    .addHelpText("after", BENCHES)
    .action(async (name, options) => (await import("./bench.js")).bench(name, options, host));
}

const BENCHES = `
Benchmarks, and what --size is:
  static-map    insert, find, erase, retrieveAll of a map; keys
  gups          random 8-byte reads, and copying; entries of the table
  stream        insert and find of keys in host memory, beside the link; keys
  lifecycle     cold processes, first and fresh tables, calls after rest, small calls; keys of the largest table
  join          inner joins of integer keys; rows of a side
  group         counts and sums by integer keys, and flights by route; rows
A clone of the repository has more: npm run bench.

Examples:
  $ warpmap bench static-map --size 2^24 --json results.json --svg results.svg
  $ warpmap bench static-map --sweep load`;

function addDeviceOptions(command: Command): Command {
  const names = ["auto", ...knownEngines().map(([name]) => name)];
  const device = new Option(
    "--device <name>",
    "where to run; auto takes a real GPU if there is one, else the CPU; any other NAME is an engine of the package warpmap-NAME, NAME:1 its second GPU",
  );
  return command
    .addOption(device.choices(names).argParser(String).default("auto"))
    .hook("preAction", (called) => checkDevice(called.opts().device))
    .option(
      "--threads <n>",
      "threads that work on the CPU and on files (default: as the machine has; with --memory 1; of all workers)",
    )
    .option("--software", "let a software GPU stand in for a real one");
}

/** Two folders up lies the package, from src/cli as from dist/cli and dist/chunks. */
async function version(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
