/** Scripts that complete the command line in a shell, made of the commands and options that program.ts declares. */
import type { Command, Option } from "commander";

export type Shell = "bash" | "zsh" | "fish";

/** The script for a shell. */
export function completionScript(program: Command, shell: Shell): string {
  return SCRIPTS[shell](program.name(), program.commands.map(described));
}

interface DescribedOption {
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Values there are; none: any. */
  readonly choices: readonly string[];
}

interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
  /** What its first argument can be, where that is no file. */
  readonly words: readonly string[];
}

function described(command: Command): DescribedCommand {
  const [first] = command.registeredArguments;
  return {
    name: command.name(),
    description: command.description(),
    options: [...command.options.map(describedOption), HELP],
    words: first?.argChoices ?? [],
  };
}

const HELP: DescribedOption = { long: "--help", description: "print help", takesValue: false, choices: [] };

function describedOption({ long, description, required, optional, argChoices }: Option): DescribedOption {
  return { long: long ?? "", description, takesValue: required || optional, choices: argChoices ?? [] };
}

const SCRIPTS: Record<Shell, (name: string, commands: readonly DescribedCommand[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const names = (commands: readonly DescribedCommand[]) => commands.map(({ name }) => name).join(" ");

/** After an option with choices these; after a dash options; else files. */
function bashScript(program: string, commands: readonly DescribedCommand[]): string {
  const cases = commands.map(({ name, options, words }) => {
    const choices = options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => `      ${name}:${long}) words="${choices.join(" ")}" ;;\n`);
    const all = options.map(({ long }) => long).join(" ");
    const first = words.length > 0 ? `      ${name}:*) words="${words.join(" ")}" ;;\n` : "";
    return `${choices.join("")}      ${name}:-) words="${all}" ;;\n${first}`;
  });
  return `# bash completion of ${program}
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${names(commands)} --help --version"
  else
    local asked="$before"
    case "$current" in -*) asked="-" ;; esac
    case "\${COMP_WORDS[1]}:$asked" in
${cases.join("")}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -z "$words" ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _${program} ${program}
`;
}

/** Text in single quotes, for a part of a zsh specification. */
function zshText(text: string): string {
  return text.replaceAll("'", "'\\''").replace(/[[\]:]/g, "\\$&");
}

function zshScript(program: string, commands: readonly DescribedCommand[]): string {
  const list = commands.map(({ name, description }) => `    '${name}:${zshText(description)}'\n`);
  const cases = commands.map(({ name, options, words }) => {
    const specifications = options.map(({ long, description, takesValue, choices }) => {
      const value = choices.length > 0 ? `:value:(${choices.join(" ")})` : takesValue ? ":value:_files" : "";
      return `        '${long}[${zshText(description)}]${value}'`;
    });
    const rest = words.length > 0 ? `'1:what:(${words.join(" ")})'` : "'*:file:_files'";
    return `      ${name}) _arguments \\\n${specifications.join(" \\\n")} \\\n        ${rest} ;;\n`;
  });
  return `#compdef ${program}
_${program}() {
  local -a commands
  commands=(
${list.join("")}  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
${cases.join("")}    esac
  fi
}
if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

/** Text in single quotes. */
function fishText(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}

function fishScript(program: string, commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap(({ name, description, options, words }) => {
    const inCommand = `complete -c ${program} -n ${fishText(`__fish_seen_subcommand_from ${name}`)}`;
    return [
      `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${fishText(description)}`,
      ...(words.length > 0 ? [`${inCommand} -f -a ${fishText(words.join(" "))}`] : []),
      ...options.map(({ long, description: what, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${fishText(choices.join(" "))}` : takesValue ? " -r" : "";
        return `${inCommand} -l ${long.slice(2)}${value} -d ${fishText(what)}`;
      }),
    ];
  });
  return `# fish completion of ${program}\n${lines.join("\n")}\n`;
}
