import { readConfig } from '../../../lib/config/config.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { type RelayChain, startRelayChain } from '../candidates.ts';
import { testClock } from '../clock.ts';
import { OPERATOR } from '../events.ts';
import type { Person } from '../people.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../vault.ts';
import { openKeptDatabase } from './kept-database.ts';
import { rememberChain } from './remembered-chain.ts';
import type { World } from './vaults.ts';

/** A world that is prepared: what orders begin with, and what was made for them. */
export interface Prepared<T> {
  readonly world: World;
  readonly made: T;
  stop(): Promise<void>;
}

/** What a world is prepared on. */
export interface Preparing {
  readonly chain: RelayChain;
  readonly t: TestVault;
}

type Vars = Readonly<Record<string, string>>;

/**
 * Prepares a world on a chain, by a vault that is gone when orders begin. `acts` are what may become of the chain in an
 * order, `host` has the files that settings name.
 */
export async function prepareWorld<T>(
  more: Vars | ((chain: RelayChain) => Promise<Vars>),
  prepare: (place: Preparing) => Promise<T>,
  acts?: (made: T, place: Preparing) => Parameters<typeof rememberChain>[1],
  host: Pick<World, 'operatorFiles'> = {},
): Promise<Prepared<T>> {
  const chain = await startRelayChain({ startsAt: testClock().now() });
  const database = openKeptDatabase();
  // What was looked at last is final.
  const vars = { ...chain.vars, FINALITY_BLOCKS: '0', ...(typeof more === 'function' ? await more(chain) : more) };
  const t = await startVault(vars, { ...host, database });
  // The first request makes the tables.
  await t.call('GET /api/sessions/status');
  const made = await prepare({ chain, t });
  await t.stop();
  database.keep();
  const OPERATOR_SECRET = OPERATOR.Authorization.replace('Bearer ', '');
  const BASE_URL = t.url.replace('127.0.0.1', 'localhost');
  return {
    made,
    world: {
      ...host,
      config: readConfig({ VAULT_SECRET, OPERATOR_SECRET, BASE_URL, FOLLOWER: 'false', ...vars }),
      database,
      chain: await rememberChain(chain.rpc, acts?.(made, { chain, t })),
      startMs: t.clock.now(),
    },
    async stop() {
      database.close();
      await chain.stop();
    },
  };
}

/** The body of a claim, with the passkey's proof. */
export function claimBody({ chain, t }: Preparing, who: Person, txHash: string, attestation?: unknown) {
  const { passkey, account: smartAccount, ...subject } = who;
  const vault = { registrar: 'did:web:registrar.example', chainId: 84532, didRegistry: chain.registry };
  const proven = proveRegistration(passkey, vault, { ...subject, smartAccount, attestation }, { now: t.clock.now() });
  return { ...subject, ...proven, txHash, ...(attestation === undefined ? {} : { attestation }) };
}
