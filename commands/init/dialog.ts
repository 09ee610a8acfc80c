import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from '../cli/arguments.ts';
import { canAsk } from '../cli/ask.ts';

/** Where the answers come from. Questions go to standard error: standard output is for results. */
export interface Dialog {
  /** Whether a person answers, who may answer again. */
  readonly isTerminal: boolean;
  say(text: string): void;
  /** The next answer, trimmed; '' takes the default. Throws `UsageError` if there is none left. */
  answer(prompt: string, isHidden?: boolean): Promise<string>;
  close(): void;
}

/** How a program ends that Ctrl+C has stopped. */
const INTERRUPTED = 130;

/** Asks at the terminal, else reads the lines of standard input. Ctrl+C and Ctrl+D end the process. */
export function openDialog(): Dialog {
  const isTerminal = canAsk();
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  // The editor of lines asks where they are wrapped.
  Object.defineProperty(output, 'columns', { get: () => process.stderr.columns });
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal, historySize: 0 });
  const read: string[] = [];
  let isAtEnd = false;
  let waiting: (() => void) | undefined;
  const wake = () => waiting?.();
  lines.on('line', (line) => {
    read.push(line);
    wake();
  });
  lines.on('close', () => {
    isAtEnd = true;
    wake();
  });
  const leave = () => {
    isHidden = false;
    lines.close();
    console.error('\nNothing was written.');
    process.exit(INTERRUPTED);
  };
  lines.on('SIGINT', leave);
  return {
    isTerminal,
    say: (text) => console.error(text),
    async answer(prompt, hides = false) {
      if (isTerminal) {
        lines.setPrompt(prompt);
        lines.prompt();
        isHidden = hides;
      } else console.error(prompt.trimEnd());
      if (read.length === 0 && !isAtEnd)
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      if (hides && isTerminal) console.error('');
      isHidden = false;
      const line = read.shift();
      if (line !== undefined) return line.trim();
      if (isTerminal) leave();
      throw new UsageError(NO_ANSWER);
    },
    close: () => lines.close(),
  };
}

const NO_ANSWER =
  'the answers on standard input end here: give one line for each question, or --yes, which takes the defaults.';

/** Takes every default. */
export const SILENT: Dialog = {
  isTerminal: false,
  say: () => undefined,
  answer: async () => '',
  close: () => undefined,
};
