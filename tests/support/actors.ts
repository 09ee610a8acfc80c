import { AbiEvent, AbiFunction, type Address, Hex, P256 } from 'ox';
import { accountFactoryAbi, didRegistryAbi } from '../../contracts/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { waitForReceipt } from '../../scripts/dev-stack/wallet.ts';
import { type Registrable, registerData, type TestChain } from './onchain.ts';

/** One DID of the actors', by what the registry knows. */
export interface Acted extends Registrable {
  readonly controller: Address.Address;
}

/** Many people with ether, who act on a chain by one request each: what they do is mined at once. */
export interface Actors {
  readonly factory: Address.Address;
  /** The settings of a vault that follows the chain. */
  readonly vars: Readonly<Record<string, string>>;
  /** Somebody who has no DID yet registers one, with a handle of its own unless `handle` is null. */
  register(handle?: string | null): Promise<Acted>;
  /** Sends a registration that a re-org took back once more. */
  registerAgain(acted: Acted): Promise<void>;
  update(acted: Acted, metadataCid: string): Promise<void>;
  deactivate(acted: Acted): Promise<void>;
  createAccount(): Promise<{ account: string; owner: string }>;
  /**
   * Every event there is, as rows of `chain_events`, read by the chain's own answer to one question and decoded by ox.
   */
  events(): Promise<Readonly<Record<string, unknown>>[]>;
}

/** Prepares actors; the ether they have is older than any re-org of a test. */
export async function prepareActors(chain: TestChain, count = 400): Promise<Actors> {
  const { rpc, registry } = chain;
  const { accountFactory: factory } = await deployContracts(rpc);
  const addresses = Array.from({ length: count }, (_, i) => Hex.fromNumber(0xac7025 + i, { size: 20 }));
  await rpc('anvil_autoImpersonateAccount', [true]);
  for (const address of addresses) await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  await chain.mine(100);
  let next = 0;
  const fresh = (): Address.Address => {
    const address = addresses[next++];
    if (!address) throw new Error('everybody has acted');
    return address;
  };
  const send = async (from: Address.Address, to: Address.Address, data: Hex.Hex) => {
    const hash = await rpc('eth_sendTransaction', [{ from, to, data, gas: '0x7a120' }]);
    await waitForReceipt(rpc, hash as Hex.Hex);
  };
  const call = (name: 'update' | 'deactivate', ...args: unknown[]) =>
    AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, name), args as never);
  return {
    factory,
    vars: { ...chain.vars, HYPERAUTH_FACTORY_ADDRESS: factory, FOLLOWER: 'true', MAX_REGISTRATIONS_PER_IP: '1000' },
    async register(handle) {
      const controller = fresh();
      const name = handle ?? `actor${next}`;
      const acted = { controller, did: `did:key:z${name}${next}`, ...(handle === null ? {} : { handle: name }) };
      await send(controller, registry, registerData(acted));
      return acted;
    },
    registerAgain: (acted) => send(acted.controller, registry, registerData(acted)),
    update: ({ controller, did }, cid) => send(controller, registry, call('update', didHash(did), cid)),
    deactivate: ({ controller, did }) => send(controller, registry, call('deactivate', didHash(did))),
    async createAccount() {
      const { x, y } = P256.createKeyPair().publicKey;
      const create = AbiFunction.fromAbi(accountFactoryAbi, 'createAccount');
      await send(fresh(), factory, AbiFunction.encodeData(create, [BigInt(x), BigInt(y), 0n]));
      const [last] = (await logs(chain, factory)).slice(-1);
      if (!last) throw new Error('no account was created');
      return { account: `0x${last.topics[1]?.slice(26)}`, owner: `0x${last.topics[2]?.slice(26)}` };
    },
    events: async () => {
      const found = [...(await logs(chain, registry)), ...(await logs(chain, factory))].flatMap(decode);
      return found.sort((a, b) => a.block - b.block || a.log_index - b.log_index);
    },
  };
}

interface Log {
  readonly topics: readonly [Hex.Hex, ...Hex.Hex[]];
  readonly data: Hex.Hex;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

async function logs({ rpc }: TestChain, address: Address.Address): Promise<Log[]> {
  return (await rpc('eth_getLogs', [{ address, fromBlock: '0x0', toBlock: 'latest' }])) as Log[];
}

const EVENTS = [...didRegistryAbi, ...accountFactoryAbi].filter((item) => item.type === 'event');
const FOLLOWED = ['DIDRegistered', 'AliasRegistered', 'DIDUpdated', 'DIDDeactivated', 'AccountCreated'];

function decode({ topics, data, ...log }: Log) {
  const event = EVENTS.find((one) => AbiEvent.getSelector(one) === topics[0]);
  if (!event || !FOLLOWED.includes(event.name)) return [];
  const args = AbiEvent.decode(event as AbiEvent.AbiEvent, { topics, data }) as unknown as Record<string, string>;
  const [subject, object] = event.inputs.filter(({ indexed }) => indexed).map(({ name }) => args[name]?.toLowerCase());
  return [
    {
      block: Number(log.blockNumber),
      log_index: Number(log.logIndex),
      block_hash: log.blockHash,
      tx_hash: log.transactionHash,
      kind: event.name,
      subject,
      object: object ?? null,
      metadata_cid: args['metadataCid'] ?? null,
    },
  ];
}
