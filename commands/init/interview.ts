import { ConfigError, describeFault, effectiveVars, readConfig, readSetting } from '../../lib/config/config.ts';
import type { FirstTopic } from '../../lib/config/first-settings.ts';
import { exampleOf, maskSetting, type Setting } from '../../lib/config/setting.ts';
import { type Config, SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import { isLoopbackOrigin } from '../../lib/config/url-parsers.ts';
import { UsageError } from '../cli/arguments.ts';
import { createPaint, isColourful } from '../cli/colour.ts';
import { widthOf, wrap } from '../cli/terminal.ts';
import { isEmbedded, randomSecret } from '../setup/settings.ts';
import type { Dialog } from './dialog.ts';

/** The settings so far, and the person who is asked for the others. */
export interface Interview {
  readonly dialog: Dialog;
  /** The settings that the file will have; the answers write here. */
  readonly vars: Record<string, string>;
  /** Where the settings came from that need no question: by name. */
  readonly given: Readonly<Record<string, string>>;
  /** Where the file of settings will be. */
  readonly folder: string;
  /** Files that the settings name, to be written with them: their texts by their paths. */
  readonly files: Map<string, string>;
  /** The recipient of the test message, if known. */
  readonly testTo: string | undefined;
}

/** A question for one answer. */
interface Question {
  readonly words: string;
  /** The meaning of an empty answer, and how it is shown; without one, an answer is needed. */
  readonly fallback?: string | undefined;
  readonly shown?: string | undefined;
  readonly isHidden?: boolean;
  /** The fault of an answer. */
  readonly judge?: (text: string) => string | undefined;
}

/** The remark behind a question whose answer is not shown. */
export const NOT_SHOWN = ' (it is not shown)';

/** Leaves a setting unset. */
export const UNSET = '-';

/** Asks until the answer can be used. Throws `UsageError` where nobody can answer again. */
export async function ask({ dialog }: Interview, question: Question): Promise<string> {
  const { words, fallback, shown = fallback, isHidden = false, judge } = question;
  const offer = shown === undefined ? '' : ` [${shown === '' ? 'none' : shown}]`;
  for (;;) {
    const text = (await dialog.answer(`   ${words}${offer}: `, isHidden)) || fallback;
    const problem = text === undefined ? `An answer is needed: ${words}` : judge?.(text);
    if (text !== undefined && problem === undefined) return text;
    if (!dialog.isTerminal) throw new UsageError(`${problem}.`);
    remark({ dialog }, `! ${problem}.`);
  }
}

/** Asks for a yes or a no; without a person it is `fallback`. */
export async function confirm(interview: Interview, words: string, fallback: boolean): Promise<boolean> {
  if (!interview.dialog.isTerminal) return fallback;
  const judge = (text: string) => (/^(?:y|yes|n|no)$/i.test(text) ? undefined : 'Answer yes or no');
  const offer = fallback ? 'yes' : 'no';
  return /^y/i.test(await ask(interview, { words, fallback: offer, judge }));
}

/** How a setting is asked for, beyond what its row says. */
interface Asked {
  readonly words?: string;
  /** Offered where there is neither a setting of before nor a default. */
  readonly offer?: string;
  /** Whether its default will not do. */
  readonly isNeeded?: boolean;
  /** Whether what is typed may be seen, though it is a secret. */
  readonly isShown?: boolean;
  /** The full form of a short answer. */
  readonly meant?: (text: string) => string;
  readonly judge?: (text: string) => string | undefined;
}

/** Asks for a setting that is not given, by its own parser, and keeps it unless it is its default. */
export async function askSetting(interview: Interview, name: SettingName, how: Asked = {}): Promise<void> {
  const { vars, given } = interview;
  if (given[name] !== undefined) return;
  const setting: Setting = SETTINGS[name];
  const { words, offer, isNeeded = false, meant = (text) => text } = how;
  const before = vars[name];
  const usual = effectiveVars({ ...vars, [name]: undefined })[name];
  const fallback = before ?? offer ?? (isNeeded ? undefined : (usual ?? ''));
  const isHidden = setting.kind === 'secret' && how.isShown !== true;
  const example = fallback === undefined && !isHidden ? exampleOf(setting) : undefined;
  const text = await ask(interview, {
    words: words ?? `${name}${isHidden ? NOT_SHOWN : ''}${example === undefined ? '' : `, such as ${example}`}`,
    fallback,
    shown: fallback && maskSetting(setting, fallback),
    isHidden,
    judge(text) {
      if (text === '' || text === UNSET) return isNeeded ? `${name} must be set` : undefined;
      const reading = readSetting(name, meant(text));
      return 'problem' in reading ? `${name} ${reading.problem}` : how.judge?.(meant(text));
    },
  });
  if (text === '' || text === UNSET || meant(text) === usual) delete vars[name];
  else vars[name] = meant(text);
}

/** Says what a topic is about, as the head of its questions. */
export function announceTopic({ dialog }: Interview, number: number, { title, about }: FirstTopic): void {
  const paint = createPaint(isColourful(process.stderr));
  dialog.say(['', `${paint.bold(`${number}. ${title}`)}`, ...indented(about)].join('\n'));
}

/** Says something between two questions. */
export function remark({ dialog }: Pick<Interview, 'dialog'>, text: string): void {
  dialog.say(indented(text).join('\n'));
}

function indented(text: string): string[] {
  return wrap(text, widthOf(process.stderr) - INDENT.length).map((line) => INDENT + line);
}

const INDENT = '   ';

/** Whether others than this machine are to reach the vault. */
export function isPublic({ vars }: Pick<Interview, 'vars'>): boolean {
  return !isLoopbackOrigin(effectiveVars(vars)['BASE_URL'] ?? '');
}

/** The settings so far as a vault reads them, where `later` stands in for those not asked yet. */
export function configSoFar({ vars }: Pick<Interview, 'vars'>, later: Readonly<Record<string, string>> = {}): Config {
  const isAtHome = isEmbedded(effectiveVars(vars)['DATABASE_URL'] ?? '');
  return readConfig({ ...later, ...(isAtHome ? secretsToCome() : {}), ...vars });
}

/** The faults that the rules between settings find in these, whatever the later answers are. */
export function faultsOf({ vars }: Pick<Interview, 'vars'>, names: readonly SettingName[]): string[] {
  const later = Object.entries(LATER).filter(([name]) => !names.includes(name as SettingName));
  try {
    configSoFar({ vars }, Object.fromEntries(later));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.filter(({ name }) => names.includes(name)).map(describeFault);
  }
}

/** Values that contradict nothing. */
const LATER = { EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none', TRUSTED_PROXIES: 'none' };

/** The vault makes its own at the first start. */
function secretsToCome(): Readonly<Record<string, string>> {
  return { VAULT_SECRET: randomSecret(), OPERATOR_SECRET: randomSecret() };
}
