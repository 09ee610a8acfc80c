import { GET_KEYS } from '../../../lib/chain/owner-keys.ts';
import { aliasHash, didHash } from '../../../lib/identity/did.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { aliasOf, DIDS, HANDLES, isSeveral, keysOf, type World } from './world.ts';

// A node that speaks JSON-RPC and shows a world of the model: what is final, what is only mined, where aliases lead.

/** The first final block, and the blocks on top of the last one: none gets so deep that its watch ends. */
const [FIRST, ON_TOP] = [960, 40] as const;
const finalBlock = ({ finalized }: World) => FIRST + finalized.length;
const headOf = (world: World) => finalBlock(world) + ON_TOP;
/** The registry's address there. */
export const REGISTRY = '0x00000000000000000000000000000000000d1d00';
const TOPIC = '0x3d34a9edac1831cc11a06bc2728e2d1c6542a5d8a4dff2ae70720a4f8bbab31b';

/** The node's settings for a vault. */
export const nodeVars = ({ url }: Pick<Upstream, 'url'>) => ({
  RPC_URL: url,
  CHAIN_ID: '84532',
  DID_REGISTRY_ADDRESS: REGISTRY,
  FINALITY_BLOCKS: String(ON_TOP),
});

export const addressOf = (did: string): `0x${string}` => `0x${hashOf(did).slice(-40)}`;
const hashes = new Map<string, `0x${string}`>();

/** Computed once: a look at a transaction compares it with that of each DID. */
function hashOf(text: string): `0x${string}` {
  const hash = hashes.get(text) ?? didHash(text);
  hashes.set(text, hash);
  return hash;
}

/** The transaction that registers a DID. */
export const txOf = (did: string) => hashOf(`the transaction of ${did}`);
export const quantity = (n: number) => `0x${n.toString(16)}`;

/** Starts a node for the world that `of` gives; `keyOf` tells 64 bytes as hex of a key's name. */
export function startStandIn(of: () => World, keyOf: (name: string) => string): Upstream {
  const node = startUpstream();
  node.answer = ({ body }) => answerAs(of(), body, keyOf);
  return node;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly [never, string];
}

/** What such a node answers to a call, or to a batch of them. */
export function answerAs(world: World, body: Call | readonly Call[], keyOf: (name: string) => string): unknown {
  const one = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(world, call, keyOf) });
  return 'method' in body ? one(body) : body.map(one);
}

function resultOf(world: World, { method, params }: Call, keyOf: (name: string) => string): unknown {
  switch (method) {
    case 'eth_chainId':
      return quantity(84532);
    case 'eth_blockNumber':
      return quantity(headOf(world));
    case 'eth_getBlockByNumber':
      return blockOf(world, params[0]);
    case 'eth_getCode':
      return '0x01';
    case 'eth_getTransactionReceipt':
      return receiptOf(world, params[0]);
    case 'eth_call':
      return callOf(world, params[0], params[1] !== 'latest' && Number(params[1]) <= finalBlock(world), keyOf);
    default:
      throw new Error(`the stand-in knows no ${method}`);
  }
}

/** A re-org gives other hashes to the blocks that are not final. */
function blockOf(world: World, tag: string) {
  const number = tag === 'latest' ? headOf(world) : tag === 'finalized' ? finalBlock(world) : Number(tag);
  const reorgs = number <= FIRST ? 0 : (world.finalized[number - FIRST - 1] ?? world.reorgs);
  return { number: quantity(number), hash: hashOf(`block ${number} after ${reorgs} re-orgs`) };
}

function receiptOf(world: World, hash: string): unknown {
  const did = Array.from(world.dids.keys()).find((one) => txOf(one) === hash);
  if (did === undefined) return null;
  const block = blockOf(world, quantity(FIRST + 1 + (world.blocks.get(did) ?? 0)));
  const { number: blockNumber, hash: blockHash } = block;
  const controller = `0x${addressOf(did).slice(2).padStart(64, '0')}`;
  const logs = [{ address: REGISTRY, topics: [TOPIC, didHash(did), controller] }];
  return { transactionHash: hash, status: '0x1', blockNumber, blockHash, logs };
}

function callOf(
  world: World,
  { to, data }: { readonly to: string; readonly data: string },
  isFinal: boolean,
  keyOf: (name: string) => string,
): string {
  const did = [...DIDS, ...world.dids.keys()].find((one) => addressOf(one) === to);
  if (did !== undefined) return answerOf(keysOf(world, did)[isFinal ? 'final' : 'now'].map(keyOf), did, data);
  const handle = HANDLES.find((one) => aliasHash(one.slice('handle:'.length)) === `0x${data.slice(10)}`);
  const { now, final } = aliasOf(world, handle ?? '');
  const led = isFinal ? final : now;
  return led === null ? `0x${'0'.repeat(64)}` : didHash(led);
}

/** What a controller answers to `getKeys` and `getOwner`; `keys` are 64 bytes each as hex. */
function answerOf(keys: readonly string[], did: string, data: string): string {
  if (!data.startsWith(GET_KEYS)) return `0x${keys[0]}`;
  if (!isSeveral(did)) return '0x';
  const word = (value: number) => value.toString(16).padStart(64, '0');
  return `0x${word(32)}${word(keys.length)}${keys.map((key, i) => `${word(i)}${key}${word(0)}${word(0)}`).join('')}`;
}
