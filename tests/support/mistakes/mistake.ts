/** How the program ends: with an exit code, or it goes on with a warning. */
export type Ending = 0 | 1 | 2 | 'goes on';

/**
 * A mistake of an operator's, as data: what was done, what the program says and how it ends. In all texts `{folder}`,
 * `{free}`, `{taken}` and `{node}` stand for an empty folder, a free port, one in use, and a node of Base Sepolia.
 */
export interface Mistake {
  /** What was done, where the command line and the settings alone do not say it. */
  readonly done?: string;
  /** The words behind `vault`; `serve` if there are none. */
  readonly args?: string;
  /** The settings that are wrong. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Settings that are right: without them another mistake would be told. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Files in the folder, by name, with their content, only their owner's unless `mode` says otherwise. */
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: number;
  /** What the program prints: the mistake and its remedy, each a piece of one line. */
  readonly says: readonly string[];
  readonly exit: Ending;
}
