import type { SettingName } from '../../lib/config/settings.ts';
import type { Arguments } from './arguments.ts';
import type { Option } from './options.ts';

/** A command: its help, and its run. */
export interface Command {
  readonly summary: string;
  /** Its own flags and operands, in the order of the help. */
  readonly options: readonly Option[];
  /** Whether it reads the settings: each is then a flag of it too. */
  readonly usesSettings: boolean;
  /** The settings that its own help shows: those that it reads, or of many the most used. */
  readonly settings?: readonly SettingName[];
  /** Command lines to begin with. */
  readonly examples?: readonly string[];
  /** Paragraphs of its own help. */
  readonly notes?: readonly string[];
  /** Its exit codes, where they say more than the usual ones. */
  readonly exitCodes?: string;
  /** Resolves with the exit code; `all` loads every command, for those that describe the others. */
  readonly run: (given: Arguments, all: () => Promise<Commands>) => number | Promise<number>;
}

/** Commands by the words typed for them, such as `limits show`. */
export type Commands = Readonly<Record<string, Command>>;
