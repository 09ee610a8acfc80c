import { fstatSync } from 'node:fs';
import { join } from 'node:path';
import { randomId, systemRandom } from '../../lib/base/random.ts';
import { type Config, ConfigError, describeFault, effectiveVars, readConfig } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import { isCode } from '../storage/durable.ts';
import { ATTESTATION_FILE, keepSecret, makeDataDirectory, readSecret, SECRET_FILES } from './secrets.ts';
import { type Given, readVars } from './vars.ts';

/** The settings of a command: as text, where each came from, and parsed. */
export interface Settings extends Given {
  readonly config: Config;
}

/**
 * Merges, completes and checks the settings. With an embedded database, missing secrets are generated into the data
 * directory; of processes that start at the same moment, all take those that were there first. Throws `UsageError`, and
 * an `Error` if the data directory cannot be used.
 */
export function loadSettings(given: Arguments): Settings {
  const { settings, unkept } = previewSettings(given);
  const config = checkSettings(settings);
  const { dataDir } = config;
  const kept = inDataDirectory(dataDir, () => {
    if (isEmbedded(config.databaseUrl)) makeDataDirectory(dataDir);
    return unkept.map((name) => {
      const text = keepSecret(join(dataDir, SECRET_FILES[name]), settings.vars[name] ?? '', settings.warnings);
      return [name, text] as const;
    });
  });
  // Read again only where another process was first: reading all takes some milliseconds.
  if (kept.every(([name, text]) => settings.vars[name] === text)) return { ...settings, config };
  const vars = { ...settings.vars, ...Object.fromEntries(kept) };
  return { ...settings, vars, config: checkSettings({ ...settings, vars }) };
}

/** The settings that `loadSettings` would use, and the secrets it would generate. Writes nothing. */
export function previewSettings({ vars: flags, options }: Arguments) {
  const given = readVars(flags, process.env, options['config']);
  const vars: Record<string, string | undefined> = { ...given.vars };
  const sources: Record<string, string> = { ...given.sources };
  const warnings = [...given.warnings];
  const unkept: (keyof typeof SECRET_FILES)[] = [];
  if (vars['LOG_FORMAT'] === undefined && isTerminal()) {
    vars['LOG_FORMAT'] = 'pretty';
    sources['LOG_FORMAT'] = 'terminal';
  }
  const { DATABASE_URL = '', DATA_DIR = '' } = effectiveVars(vars, ['DATA_DIR', 'DATABASE_URL']);
  // An unusable URL is the only fault: the secrets of another URL are not missing.
  const isAtHome = isEmbedded(DATABASE_URL) || 'problem' in SETTINGS.DATABASE_URL.parser(DATABASE_URL);
  for (const name of isAtHome ? SECRET_NAMES : []) {
    if (vars[name] !== undefined) continue;
    const path = join(DATA_DIR, SECRET_FILES[name]);
    const kept = inDataDirectory(DATA_DIR, () => readSecret(path, warnings));
    if (kept === undefined) unkept.push(name);
    vars[name] = kept ?? randomSecret();
    sources[name] = `generated, ${path}`;
  }
  const rotated = join(DATA_DIR, ATTESTATION_FILE);
  if (isEmbedded(DATABASE_URL) && vars['ATTESTATION_SIGNING_KEY'] === undefined) {
    const keys = inDataDirectory(DATA_DIR, () => readSecret(rotated, warnings));
    if (keys !== undefined) {
      vars['ATTESTATION_SIGNING_KEY'] = keys;
      sources['ATTESTATION_SIGNING_KEY'] = `generated, ${rotated}`;
    }
  }
  return { settings: { vars, sources, warnings }, unkept };
}

/** Parses the settings. Throws `UsageError` with a line for each fault and where its value came from. */
export function checkSettings({ vars, sources }: Pick<Given, 'vars' | 'sources'>): Config {
  try {
    return readConfig(vars);
  } catch (error) {
    throw usageErrorOf(error, sources);
  }
}

/** A `ConfigError` as the error of a command, a line for each fault; any other error as it is. */
export function usageErrorOf(error: unknown, sources: Given['sources']): unknown {
  if (!(error instanceof ConfigError)) return error;
  const lines = error.faults.map((fault) => {
    const source = sources[fault.name];
    return `  ${describeFault(fault)}${source === undefined ? '' : ` (from: ${source})`}`;
  });
  return new UsageError(`These settings cannot be used:\n${lines.join('\n')}`);
}

/** Whether the database is a file of this machine. */
export function isEmbedded(databaseUrl: string): boolean {
  return /^file:/i.test(databaseUrl);
}

/**
 * Whether a person reads the output. Pipes and files show by their kind: making the stream, only to ask it, takes
 * longer than opening the database.
 */
function isTerminal(): boolean {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY;
}

/** Adds the directory to the system's error. */
function inDataDirectory<T>(dir: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(dir, error);
  }
}

function unusable(dir: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : error;
  const folder = "set DATA_DIR to a folder in which the vault's user may write";
  const remedy = isCode(error, 'EACCES') ? `run this as the vault's user, or ${folder}` : folder;
  return new Error(`DATA_DIR ${dir} cannot be used: ${reason}: ${remedy}`, { cause: error });
}

const SECRET_NAMES = Object.keys(SECRET_FILES) as (keyof typeof SECRET_FILES)[];

/** 32 random bytes as hex. */
export function randomSecret(): string {
  return randomId(systemRandom) + randomId(systemRandom);
}
