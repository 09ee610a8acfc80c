import { DAY_MS, isoTime, systemClock } from '../lib/base/clock.ts';
import { closest } from '../lib/base/closest.ts';
import { VaultError } from '../lib/base/error.ts';
import { systemRandom } from '../lib/base/random.ts';
import { DEFAULT_APP, EVENT_CHANNELS } from '../lib/events/catalogue.ts';
import { createKeys } from '../lib/identity/keys.ts';
import { CONSOLE_COMMAND, mintConsoleToken } from '../lib/tokens/console-token.ts';
import { revokeToken } from '../lib/tokens/tokens.ts';
import { parseCid } from '../lib/ucan/cid.ts';
import { covers, isCommand } from '../lib/ucan/command.ts';
import { UCAN_TOKEN_CHARS_MAX } from '../lib/ucan/container.ts';
import { type Inspection, inspectToken } from '../lib/ucan/inspect.ts';
import { mintDelegation, UCAN_NONCE_BYTES } from '../lib/ucan/mint.ts';
import { checkDidKey, createVerify, ed25519Signer } from '../lib/ucan/signature.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { APP, CONFIG, DATABASE_SETTINGS, EXPIRES, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { readInput } from './cli/read-input.ts';
import { UNIT_MS } from './cli/units.ts';
import { onStore } from './open-store.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';

/** `vault token mint`. */
export const tokenMintCommand: Command = {
  summary: "prints a token for an app's event stream",
  options: [
    APP,
    option('--channel <channel>', 'only the events of this channel [all]', EVENT_CHANNELS),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: ['DATA_DIR', 'VAULT_SECRET', 'BASE_URL', 'APPS'],
  examples: ['vault token mint --app shop --config /etc/vault/vault.env'],
  run: mintToken,
};

/** `vault token inspect`. */
export const tokenInspectCommand: Command = {
  summary: 'shows the content of a token, and its faults',
  options: [option('TOKEN', 'the token, or - for standard input'), JSON_OUTPUT, HELP],
  usesSettings: false,
  exitCodes: '0 valid unless revoked, 1 not valid, 2 invalid usage',
  run: inspect,
};

/** `vault token delegate`. */
export const tokenDelegateCommand: Command = {
  summary: 'prints a delegation that lets another key issue such tokens',
  options: [
    option('--aud <did:key>', 'the key that receives the delegation'),
    APP,
    option('--command <command>', 'the command that is allowed [/vault/console]'),
    EXPIRES,
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: ['DATA_DIR', 'VAULT_SECRET', 'BASE_URL', 'APPS'],
  examples: ['vault token delegate --aud did:key:z6Mk… --expires 30d'],
  run: delegateToken,
};

/** `vault token revoke`. */
export const tokenRevokeCommand: Command = {
  summary: 'revokes a token, or a delegation and everything based on it',
  options: [
    option('CID', 'the CID of a token or a delegation, as vault token inspect prints it'),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault token revoke zdpu… --config /etc/vault/vault.env'],
  run: revoke,
};

/** Prints a token for an app's event stream, signed with the vault's own key. Needs no running vault. */
async function mintToken(given: Arguments): Promise<number> {
  const channel = given.options['channel'];
  if (channel !== undefined && !EVENT_CHANNELS.some((one) => one === channel))
    throw new UsageError(`--channel is one of ${EVENT_CHANNELS.join(', ')}.`);
  const vault = { ...loadKeys(given), random: systemRandom };
  const scope = { app: readApp(needOption(given, 'app'), vault.config), channel };
  const minted = await mintConsoleToken(vault, scope, systemClock.now());
  return printToken(given, minted.token, minted);
}

/** Prints a delegation that lets the holder of another key issue such tokens. */
async function delegateToken(given: Arguments): Promise<number> {
  const audience = await readDid(needOption(given, 'aud'));
  const { app, command = CONSOLE_COMMAND, expires = '30d' } = given.options;
  if (!isCommand(command) || !covers('/vault', command))
    throw new UsageError('--command is /vault, or one below it such as /vault/console/events/read.');
  const expiresAt = systemClock.now() + readDuration(expires);
  const { config, keys } = loadKeys(given);
  const policy = app === undefined ? [] : [['==', '.app', readApp(app, config)]];
  const key = await ed25519Signer(keys.operatorSeed);
  const nonce = systemRandom(UCAN_NONCE_BYTES);
  const minted = await mintDelegation({ key, subject: key.did, audience, command, policy, expiresAt, nonce });
  const { token, cid } = minted;
  const ends = isoTime(minted.expiresAt ?? expiresAt);
  return printToken(given, token, { token, cid, expires_at: ends, audience, command, policy });
}

/** Prints the content of a token, and its faults; exit code 1 if it is not valid. `-` reads standard input. */
async function inspect(given: Arguments): Promise<number> {
  const named = needOption(given, 'TOKEN');
  const text = named === '-' ? await readInput(2 * UCAN_TOKEN_CHARS_MAX) : named;
  const inspection = await inspectToken(text.trim(), { now: systemClock.now(), verify: createVerify() });
  printAnswer(given, inspection, () => describe(inspection));
  return inspection.valid ? 0 : 1;
}

/** Revokes a token, or a delegation and everything based on it; a running vault refuses it from the next request on. */
async function revoke(given: Arguments): Promise<number> {
  const named = needOption(given, 'CID');
  if (parseCid(named) === undefined) throw new UsageError('CID is what vault token inspect prints, such as zdpu….');
  const { cid, isNew } = await onStore(given, (vault) => revokeToken(vault, named)).catch((error) => {
    if (error instanceof VaultError && error.details.hint) throw new Error(error.details.hint);
    throw error;
  });
  printAnswer(given, { cid, revoked: true, new: isNew }, () => `${cid}: ${isNew ? 'revoked' : 'was revoked already'}`);
  return 0;
}

/** The vault's own keys. They are never generated here, because a token of a new key would open nothing. */
function loadKeys(given: Arguments) {
  const { settings, unkept } = previewSettings(given);
  const config = checkSettings(settings);
  if (unkept.includes('VAULT_SECRET'))
    throw new UsageError(`There are no keys in ${config.dataDir} yet: start the vault once, or set VAULT_SECRET.`);
  return { config, keys: createKeys(config.vaultSecret, config.attestationSigningKey) };
}

/** Says on standard error if no request may name the app: its streams stay empty. */
function readApp(text: string, { apps }: { readonly apps: readonly string[] }): string {
  if (!/^[a-z0-9-]{1,64}$/.test(text)) throw new UsageError('--app is 1 to 64 of a-z, 0-9 and the hyphen.');
  if (text !== DEFAULT_APP && !apps.includes(text)) {
    const near = closest(text, apps);
    const meant = near === undefined ? '' : `, did you mean ${near}?`;
    console.error(`vault: ${text} is not in APPS, so it has no events: add it to APPS${meant}`);
  }
  return text;
}

async function readDid(text: string): Promise<string> {
  if (await checkDidKey(text)) return text;
  throw new UsageError('--aud is the did:key of an Ed25519, P-256 or secp256k1 key.');
}

/** Milliseconds of `90s`, `15m`, `12h` or `30d`. */
function readDuration(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (ms <= DURATION_MS_MAX) return ms;
  throw new UsageError('--expires is a number and s, m, h or d, such as 30d, and at most 3650d.');
}

const DURATION_MS_MAX = 3650 * DAY_MS;

/** The token alone on standard output, so that it can be piped on. */
function printToken<T extends { readonly expires_at: string }>(given: Arguments, token: string, all: T): number {
  printAnswer(given, all, () => token);
  if (given.options['json'] === undefined) console.error(`vault: valid until ${all.expires_at}`);
  return 0;
}

function describe({ fault, tokens }: Inspection): string {
  const parts = tokens.map(({ kind, cid, expires_at, faults, says }) =>
    [
      `${kind} ${cid}`,
      ...Object.entries(says as Record<string, unknown>).map(
        ([name, value]) => `  ${name.padEnd(6)}${JSON.stringify(value)}`,
      ),
      `  ends  ${expires_at ?? 'never'}`,
      ...faults.map((one) => `  fault ${one}`),
    ].join('\n'),
  );
  return [...parts, fault === null ? 'Valid, unless it was revoked.' : `Not valid: ${fault}.`].join('\n\n');
}
