import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '../lib/base/bytes.ts';
import { systemClock } from '../lib/base/clock.ts';
import { createMetrics } from '../lib/base/metrics.ts';
import { systemRandom } from '../lib/base/random.ts';
import { ATTESTATION_KEYS_MAX } from '../lib/constants.ts';
import { createKeys } from '../lib/identity/keys.ts';
import { addKey, createKeyFacts, KEY_LEAD_MS, readKeys } from '../lib/signing/signing-keys.ts';
import { type Arguments, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DRY_RUN, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { print, printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';
import { ATTESTATION_FILE, makeDataDirectory, SECRET_FILES } from './setup/secrets.ts';
import { checkSettings, isEmbedded, previewSettings, randomSecret, type Settings } from './setup/settings.ts';
import {
  draftOf,
  giveToOwnerOf,
  isCode,
  publish,
  replaceKeeping,
  timeInName,
  writeDurably,
} from './storage/durable.ts';

/** `vault keys rotate`. */
export const keysRotateCommand: Command = {
  summary: 'creates a new attestation key; previous keys still verify',
  options: [
    option('--operator', 'rotate OPERATOR_SECRET instead of the attestation key'),
    option('--signing', 'make the next key of ID tokens instead; a running vault uses it without a restart'),
    option('--credentials', 'make the next key of credentials instead, likewise'),
    option(
      '--now',
      'with --signing or --credentials: it signs at once, and the former key is no longer published (a stolen key)',
    ),
    DRY_RUN,
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: [
    'DATA_DIR',
    'DATABASE_URL',
    'DATABASE_AUTH_TOKEN',
    'VAULT_SECRET',
    'ATTESTATION_SIGNING_KEY',
    'OPERATOR_SECRET',
  ],
  examples: [
    'vault keys rotate --config /etc/vault/vault.env',
    'vault keys rotate --operator --config /etc/vault/vault.env',
    'vault keys rotate --signing --config /etc/vault/vault.env',
    'vault keys rotate --credentials --now --config /etc/vault/vault.env',
  ],
  notes: [
    'The keys take effect at the next start of the vault, but for --signing and --credentials.',
    'If a setting provides the key, the new value is printed for you to set, and nothing is changed.',
    "VAULT_SECRET is never rotated: that would void pending codes and change the operator's DID.",
  ],
  run: rotateKeys,
};

/**
 * Creates a new current attestation key and keeps the previous ones for verifying; with `--operator` creates a new
 * OPERATOR_SECRET. Generated keys are replaced in the data directory; for keys from settings the new value is only
 * printed. A running vault uses the keys it has read until it restarts.
 */
function rotateKeys(given: Arguments): number | Promise<number> {
  const { now, ...asked } = given.options;
  const [kind, ...others] = (['signing', 'credentials', 'operator'] as const).filter((one) => asked[one] !== undefined);
  const isSigning = kind === 'signing' || kind === 'credentials';
  if (others.length > 0) throw new UsageError('Expected one of: --signing, --credentials, --operator.');
  if (now !== undefined && !isSigning) throw new UsageError('--now goes with --signing or --credentials.');
  const { settings, unkept } = previewSettings(given);
  const config = checkSettings(settings);
  if (isEmbedded(config.databaseUrl) && unkept.includes('VAULT_SECRET'))
    throw new UsageError(`There are no keys in ${config.dataDir} yet: start the vault once.`);
  if (isSigning) return rotateSigningKey(given, kind, now !== undefined);
  const own: Settings = { ...settings, config };
  const rotation = given.options['operator'] === undefined ? nextAttestationKeys(own) : nextOperatorSecret(own);
  if (rotation.path === undefined) return printSetting(given, rotation);
  if (given.options['dry-run'] !== undefined) {
    print(`${rotation.path} would be replaced.`);
    return 0;
  }
  makeDataDirectory(config.dataDir);
  const keptAs = replaceSecret(rotation.path, rotation.text, config.dataDir);
  printAnswer(given, { setting: rotation.name, file: rotation.path, keptAs: keptAs ?? null }, () =>
    [`${rotation.name} is rotated: ${rotation.path}`, ...(keptAs ? [`kept: ${keptAs}`] : [])].join('\n'),
  );
  console.error(`vault: ${rotation.next}`);
  return 0;
}

/** The keys that sign for others, and who has to read their list anew after a theft. */
const SIGNING = {
  signing: {
    alg: 'RS256',
    of: 'ID tokens',
    theft: 'apps keep /jwks for an hour: tokens of the former key may be accepted until then.',
  },
  credentials: {
    alg: 'ES256',
    of: 'credentials',
    theft:
      'verifiers keep /.well-known/jwt-vc-issuer for an hour: what the former key signed may be accepted until then. ' +
      'All credentials that it signed have ended; people get new ones.',
  },
} as const;

/** Makes the next key of a kind in the database of the settings, whether a vault runs on it or not. */
async function rotateSigningKey(given: Arguments, kind: keyof typeof SIGNING, endsNow: boolean): Promise<number> {
  const { alg, of, theft } = SIGNING[kind];
  if (given.options['dry-run'] !== undefined) {
    print(`A new key of ${of} would be made.`);
    return 0;
  }
  const signsFrom = systemClock.now() + (endsNow ? 0 : KEY_LEAD_MS);
  const made = await onStore(given, async ({ config, clock, db }) => {
    const keys = createKeys(config.vaultSecret, config.attestationSigningKey);
    const parts = { keys, random: systemRandom, log: () => undefined, metrics: createMetrics() };
    const ctx = { config, clock, db, ...parts, keyFacts: createKeyFacts() };
    return addKey(ctx, alg, await readKeys(ctx, alg), { signsFrom, endsNow });
  });
  if (!made) throw new Error('another process has just made a key: try again');
  const from = new Date(signsFrom).toISOString();
  printAnswer(given, { key: kind, signsFrom: from }, () => `A new key of ${of} signs from ${from} on.`);
  if (endsNow) console.error(`vault: ${theft}`);
  return 0;
}

/** A new value of a setting; without a path it is for the operator to set. */
interface Rotation {
  readonly name: 'ATTESTATION_SIGNING_KEY' | 'OPERATOR_SECRET';
  readonly text: string;
  readonly path?: string;
  /** The operator's next step, in words. */
  readonly next: string;
}

function nextAttestationKeys({ config, vars, sources }: Settings): Rotation {
  const name = 'ATTESTATION_SIGNING_KEY';
  const path = join(config.dataDir, ATTESTATION_FILE);
  const next = `restart the vault (SIGTERM, then start it). Until then it signs with the previous key, which stays valid. Attestations live ${config.attestationTtlSeconds} s. ${ENDS_OPERATORS}`;
  const isFile = sources[name] === `generated, ${path}`;
  const derived = () => createKeys(config.vaultSecret).attestation.map(toHex);
  const before = vars[name]?.split(',').map((key) => key.trim()) ?? derived();
  if (isFile) checkPatience(path, before.length, config.attestationTtlSeconds);
  const text = [randomSecret(), ...before].slice(0, ATTESTATION_KEYS_MAX).join(',');
  if (isEmbedded(config.databaseUrl) && (isFile || sources[name] === undefined)) return { name, text, path, next };
  return { name, text, next: SEVERAL };
}

const SEVERAL =
  'set it where the current value comes from. With several vaults, first set it with the first two keys swapped and ' +
  'restart each vault. Then set it as printed and restart each again, so that none signs with a key that another ' +
  'does not know.';

const ENDS_OPERATORS = 'The restart ends the tokens of all operators.';

/** The oldest key goes when there are as many as fit, and must not have signed anything that still lives. */
function checkPatience(path: string, count: number, ttlSeconds: number): void {
  const waitMs = statSync(path).mtimeMs + ttlSeconds * 1000 - systemClock.now();
  if (count < ATTESTATION_KEYS_MAX || waitMs <= 0) return;
  throw new Error(
    `${path} holds ${count} keys, the maximum, and attestations from before the last rotation are still valid: wait ${Math.ceil(waitMs / 1000)} s`,
  );
}

function nextOperatorSecret({ config, sources }: Settings): Rotation {
  const name = 'OPERATOR_SECRET';
  const path = join(config.dataDir, SECRET_FILES[name]);
  const next = `restart the vault (SIGTERM, then start it). Until then it accepts only the previous secret, then only the new one. ${ENDS_OPERATORS}`;
  const rotation = { name, text: randomSecret(), next } as const;
  if (sources[name] === `generated, ${path}`) return { ...rotation, path };
  return { ...rotation, next: `set it where the current value comes from (${sources[name]}), on every vault.` };
}

function printSetting(given: Arguments, { name, text, next }: Rotation): number {
  if (given.options['dry-run'] !== undefined) {
    print(`A new ${name} would be printed.`);
    return 0;
  }
  printAnswer(given, { setting: name, value: text }, () => `${name}=${text}`);
  console.error(`vault: nothing was changed: ${next}`);
  return 0;
}

/** Returns where the file of before is kept, if there was one. At every moment one of the two is there, whole. */
function replaceSecret(path: string, text: string, dataDir: string): string | undefined {
  const draft = draftOf(path);
  writeDurably(draft, `${text}\n`);
  giveToOwnerOf(draft, dataDir);
  try {
    if (!existsSync(path)) {
      publish(draft, path);
      return undefined;
    }
    const aside = `${path}.before-${timeInName(systemClock.now())}`;
    replaceKeeping(draft, path, aside);
    return aside;
  } catch (error) {
    if (isCode(error, 'EEXIST'))
      throw new Error(`another process has just rotated ${path}: try again`, { cause: error });
    throw error;
  }
}
