import { fromHex, toBase64url, toHex, utf8 } from '../../../lib/base/bytes.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Database } from '../../../lib/db/database.ts';
import { createStore } from '../../../lib/db/store.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { CONFIRMATION_LOOK_MS } from '../../../lib/registration/confirm.ts';
import { KEY_LOOK_PAUSE_MS } from '../../../lib/registration/look-again.ts';
import { signAttestation } from '../../../lib/verification/attestation.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import type { Draw } from '../draw.ts';
import { createPasskey, type Passkey } from '../passkey.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../vault.ts';
import { insertRelayed, settleRelays } from './relays.ts';
import { addressOf, nodeVars, REGISTRY, startStandIn, txOf } from './stand-in.ts';
import { KEYS, keyOf, MAILS, type Post, type World } from './world.ts';

// The vault itself, over HTTP, in a world of the model.

/** Longer than the pause between two checks of a registration, and shorter than it may stay unseen. */
export const STEP_MS = 31_000;
/** Looks so far apart let what is unseen fail. */
const LOOKS = 9;

/** What a vault answered. */
interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  readonly body: any;
  /** An earlier attempt of the same request may have done it. */
  readonly isUnsure?: boolean;
}

/** The way to a vault, and its time. */
interface Way {
  call(line: string, fields?: Readonly<Record<string, unknown>>, headers?: Headers): Promise<Answered>;
  now(): number;
}

type Headers = Readonly<Record<string, string>>;

/** What people and the operator ask of a vault; undefined where nobody knows which attempt did it. */
export interface Requests {
  /** The result of `POST /api/dids`: `ok`, or the error. */
  post(asked: Post): Promise<string | undefined>;
  /** The result of `POST /api/sessions` for a handle. */
  openSession(handle: string, did: string): Promise<string | undefined>;
  /** What a look-up shows, and null for 404. */
  lookUp(credential: string, key: string | null): Promise<Readonly<Record<string, unknown>> | null>;
  isAvailable(identifier: string): Promise<boolean>;
  /** The status of the operator's undo. */
  undo(id: number): Promise<number | undefined>;
}

/** A vault in a world of the model. */
export interface Service extends Requests {
  /** Whether a claim that the vault sends itself is admitted; `number` is one of its own. */
  relay(asked: Post, number: number): Promise<boolean>;
  rows: TestVault['rows'];
}

/** One whose world a test changes, on a vault of its own. */
export interface OwnService extends Service {
  world: World;
  readonly vault: TestVault;
  /** Lets background work see the world; `isLong` lets what is unseen fail. */
  settle(isLong: boolean): Promise<void>;
  /** Forgets all registrations. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** The passkeys of the world's people. */
export interface Passkeys {
  of(name: string): Passkey;
  /** 64 bytes as hex of a key's name. */
  hexOf(name: string): string;
  /** The name of a key, and null where it is nobody's. */
  nameOf(point: Readonly<Record<string, string>>): string | null;
}

/** New ones, from private keys that are drawn where a draw is given. */
export function createPasskeys(draw?: Draw): Passkeys {
  const made = new Map<string, Passkey>(KEYS.map((key) => [key, createPasskey(undefined, draw && privateKey(draw))]));
  const of = (name: string) => made.get(name) as Passkey;
  const hexOf = (name: string) => {
    // A DID of nobody in the world has a key all the same.
    const { x, y } = made.get(name)?.key ?? {};
    return x && y ? toHex(x) + toHex(y) : didHash(name).slice(2).repeat(2);
  };
  const nameOf = ({ pubKeyX, pubKeyY }: Readonly<Record<string, string>>) =>
    Array.from(made.keys()).find((name) => `${pubKeyX}${pubKeyY?.slice(2)}` === `0x${hexOf(name)}`) ?? null;
  return { of, hexOf, nameOf };
}

const privateKey = (draw: Draw) => `0x${toHex(draw.bytes(32))}` as const;

/** The settings of the vault: attestations are signed here with its key, and the model knows of no challenges. */
export const EVIDENCE_VARS = { ATTESTATION_SIGNING_KEY: VAULT_SECRET, ADDRESS_MOVE_HOURS: '0' };

/** Requests to a vault. */
export async function createRequests({ call, now }: Way, passkeys: Passkeys): Promise<Requests> {
  const registrar = String((await call('GET /api/contracts')).body.registrar);
  const sure = ({ status, body, isUnsure }: Answered) =>
    isUnsure ? undefined : status === 200 ? 'ok' : String(body.error);
  return {
    async post({ by, identifier, did, credentialId, proof, key = keyOf(by), isReal = true }) {
      const [channel, value] = namesOf(identifier);
      const subject = { identifier: value, channel, did, credentialId: idOf(credentialId) };
      const attestation =
        channel === 'handle'
          ? undefined
          : signAttestation([fromHex(VAULT_SECRET) as Uint8Array], {
              identifier: parseIdentifier(channel, value),
              verifiedAt: now(),
              ttlSeconds: 300,
              registrar,
            });
      const signer = proof === 'forged' ? createPasskey(undefined, FORGER) : passkeys.of(key);
      const request = { ...subject, smartAccount: addressOf(did), attestation };
      const contracts = { registrar, chainId: 84532, didRegistry: REGISTRY };
      const proven = proof === 'none' ? {} : proveRegistration(signer, contracts, request, { now: now() });
      const txHash = txOf(isReal ? did : 'nothing');
      return sure(await call('POST /api/dids', { ...subject, attestation, txHash, ...proven }));
    },
    async openSession(handle, did) {
      const [channel, identifier] = namesOf(handle);
      return sure(await call('POST /api/sessions', { identifier, channel, did }));
    },
    async lookUp(credential, key) {
      const named = key === null ? undefined : passkeys.of(key).key;
      const point = named ? { pubKeyX: `0x${toHex(named.x)}`, pubKeyY: `0x${toHex(named.y)}` } : {};
      const query = { credentialId: idOf(credential), ...point };
      const { status, body } = await call('GET /api/dids/lookup', query);
      if (status !== 200) return null;
      const { did, channel, final, proven, proofs, ambiguous = false } = body;
      return { did, channel, status: body.status, final, proven, proofs, ambiguous, key: passkeys.nameOf(body) };
    },
    async isAvailable(name) {
      const [channel, identifier] = namesOf(name);
      return (await call('GET /api/sessions/check', { identifier, channel })).body.available;
    },
    async undo(id) {
      const { status, isUnsure } = await call('POST /v1/console/registrations/undo', { id }, OPERATOR);
      return isUnsure ? undefined : status;
    },
  };
}

/** Starts a vault on a stand-in for its node. */
export async function startService(first: World): Promise<OwnService> {
  const passkeys = createPasskeys();
  const node = startStandIn(() => service.world, passkeys.hexOf);
  const vault = await startVault({ ...nodeVars(node), ...GENEROUS, ...EVIDENCE_VARS });
  // The first request of this kind migrates the database.
  await vault.call('GET /api/sessions/status');
  const way: Way = {
    call: vault.call,
    now: () => vault.clock.now(),
  };
  const db = createStore({
    database: vault.database,
    clock: vault.clock,
    metrics: createMetrics(),
    maxConnections: 1,
  });
  await db.ready();
  const service: OwnService = {
    ...(await createRequests(way, passkeys)),
    world: first,
    vault,
    rows: vault.rows,
    relay({ by, identifier, did, credentialId, key = keyOf(by) }, number) {
      const claim = { identifier: storedKey(identifier), did, credentialId: idOf(credentialId), number };
      return insertRelayed(db, vault, { ...claim, proofKey: passkeys.hexOf(key) });
    },
    async settle(isLong) {
      for (let look = 0; isLong && look < LOOKS; look++) {
        await vault.clock.advance(CONFIRMATION_LOOK_MS);
        await vault.work();
      }
      await vault.clock.advance(STEP_MS);
      await settleRelays(db, vault, service.world, isLong);
      await vault.work();
      await lookAtKeys(vault.database);
      await vault.clock.advance(KEY_LOOK_PAUSE_MS);
      await vault.work();
    },
    async clear() {
      for (const table of [
        'account_keys',
        'key_accounts',
        'credentials',
        'relays',
        'registrations',
        'sessions',
        'attestation_uses',
        'challenge_notices',
        'challenges',
      ])
        await vault.database.execute({ sql: `DELETE FROM ${table}`, args: {} });
      await vault.clock.advance(STEP_MS);
    },
    async stop() {
      await vault.stop();
      await node.stop();
    },
  };
  return service;
}

/** Somebody looks each credential up, after long. */
export async function lookAtKeys(database: Database): Promise<void> {
  await database.execute({ sql: `UPDATE key_accounts SET due_at = 0`, args: {} });
}

/** Of nobody in the world. */
const FORGER = `0x${'f0'.repeat(32)}` as const;
const OPERATOR = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
const GENEROUS = {
  MAX_REGISTRATIONS_PER_IP: '100000',
  RATE_LIMIT_PROXY_PER_IP: '1000000',
  RATE_LIMIT_READS_PER_IP: '1000000',
  RATE_LIMIT_WRITES_PER_IP: '1000000',
  SESSION_TTL_SECONDS: '600',
};

/** Channel and value of an identifier of the world. */
function namesOf(identifier: string): ['handle' | 'email', string] {
  const name = identifier.slice(identifier.indexOf(':') + 1);
  return identifier.startsWith('handle:') ? ['handle', name] : ['email', `${name}@example.com`];
}

/** The key under which the vault stores an identifier of the world. */
export function storedKey(identifier: string): string {
  const [channel, value] = namesOf(identifier);
  return parseIdentifier(channel, value).key;
}

function idOf(credential: string): string {
  return toBase64url(utf8(credential));
}

export const IDENTIFIERS = ['handle:red', 'handle:blue', ...MAILS];
