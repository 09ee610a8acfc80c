import { readFileSync, statSync } from 'node:fs';
import { closest } from '../../lib/base/closest.ts';
import { once } from '../../lib/base/once.ts';
import { SETTING_CHARS_MAX, SETTING_NAMES } from '../../lib/config/config.ts';
import type { Vars } from '../../lib/config/setting.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { flagOf, UsageError } from '../cli/arguments.ts';

/** Settings as text with their sources; settings without a value are absent. */
export interface Given {
  readonly vars: Vars;
  readonly sources: Readonly<Record<string, string>>;
  /** Warnings for the operator; the vault starts anyway. */
  readonly warnings: readonly string[];
}

/** Whether a value of this source was given by a person: neither a default, nor generated, nor the terminal's. */
export function isByPerson(source: string | undefined): boolean {
  return source !== undefined && !/^(?:generated|terminal)/.test(source);
}

/**
 * Merges flags over the environment over the `--config` file. `NAME_FILE` names a file that contains a secret or an
 * endpoint. Throws `UsageError`.
 */
export function readVars(flags: Vars, environment: Vars, configFile?: string): Given {
  const warnings: string[] = [];
  const fromFile = configFile === undefined ? {} : readSettingsFile(configFile, warnings);
  const all: [Vars, (name: string) => string][] = [
    [flags, (name) => `flag ${flagOf(name)}`],
    // A copy: each look into the environment itself is a call into the runtime.
    [{ ...environment }, () => 'environment'],
    [fromFile, () => `file ${configFile}`],
  ];
  const levels = all.filter(([vars]) => Object.keys(vars).length > 0);
  const vars: Record<string, string> = {};
  const sources: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of SETTING_NAMES) {
    try {
      const found = findFirst(name, levels, warnings);
      if (!found) continue;
      vars[name] = found.text;
      sources[name] = found.source;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { vars, sources, warnings };
}

function findFirst(
  name: keyof typeof SETTINGS,
  levels: readonly [Vars, (name: string) => string][],
  warnings: string[],
) {
  for (const [vars, sourceOf] of levels) {
    const text = given(vars[name]);
    const path = takesFile(name) ? given(vars[`${name}_FILE`]) : undefined;
    if (text !== undefined && path !== undefined)
      throw new UsageError(`${name} and ${name}_FILE are both set (${sourceOf(name)}): keep one of them.`);
    if (text !== undefined) return { text, source: sourceOf(name) };
    if (path !== undefined) {
      const content = onOneLine(readPrivate(path, `${name}_FILE`, warnings).trim());
      if (content === '') throw new UsageError(`${name}_FILE: ${path} is empty.`);
      return { text: content, source: `${name}_FILE ${path}` };
    }
  }
  return undefined;
}

/** The lines of a key in PEM, with blanks between them, as settings have no lines; any other text as it is. */
function onOneLine(text: string): string {
  return text.startsWith('-----BEGIN ') ? text.replace(/\r?\n/g, ' ') : text;
}

/** An empty text is an unset setting, as everywhere. */
function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

function takesFile(name: keyof typeof SETTINGS): boolean {
  return SETTINGS[name].kind !== 'plain';
}

/**
 * Lines of `NAME=value`, as systemd's EnvironmentFile and Docker's --env-file take them: `#` comments, quotes around a
 * value, no expansion.
 */
function readSettingsFile(path: string, warnings: string[]): Vars {
  const vars: Record<string, string> = {};
  const faults: string[] = [];
  const text = readPrivate(path, '--config', warnings);
  if (/^\s*[{[]/.test(text))
    throw new UsageError(`${path} is JSON: write a line NAME=value for each setting, such as PORT=8787.`);
  const others: number[] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line) ?? [];
    if (name === undefined) others.push(i + 1);
    else if (!fileNames().has(name)) faults.push(`line ${i + 1}: ${unknownName(name)}`);
    else if (vars[name] !== undefined) faults.push(`line ${i + 1}: ${name} is given twice`);
    else vars[name] = unquote(value.trim());
  }
  if (others.length > 0) faults.unshift(describeOthers(others));
  const sentence = (fault: string) => `${path}: ${fault}${fault.endsWith('?') ? '' : '.'}`;
  if (faults.length > 0) throw new UsageError(faults.map(sentence).join('\n'));
  return vars;
}

/** Lines that set nothing, in one sentence: a file of another format has many. */
function describeOthers(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]} is not NAME=value`;
  const more = lines.length > LINES_NAMED_MAX ? ` and ${lines.length - LINES_NAMED_MAX} more` : '';
  return `lines ${lines.slice(0, LINES_NAMED_MAX).join(', ')}${more} are not NAME=value`;
}

const LINES_NAMED_MAX = 5;

const fileNames = once(
  () => new Set<string>(SETTING_NAMES.flatMap((name) => (takesFile(name) ? [name, `${name}_FILE`] : [name]))),
);

function unknownName(name: string): string {
  const near = closest(name, [...fileNames()]);
  return `${name} is not a setting${near === undefined ? '' : `: did you mean ${near}?`}`;
}

function unquote(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

/** A file's text; warns when others than its owner can read it. */
function readPrivate(path: string, namedBy: string, warnings: string[]): string {
  try {
    const { mode, size } = statSync(path);
    if (size > SETTING_CHARS_MAX)
      throw new UsageError(`${namedBy}: ${path} is larger than ${SETTING_CHARS_MAX} bytes.`);
    if ((mode & 0o077) !== 0) warnings.push(`${path} can be read by other users: chmod 600 ${path}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    throw new UsageError(`${namedBy}: ${path} cannot be read (${code}).`);
  }
}
