import { aliasHash, didHash } from '../../../lib/identity/did.ts';
import { type Received, resultOf, startUpstream, type Upstream } from '../upstream.ts';
import { aliasOf, DIDS, HANDLES, shownKey, type World } from './world.ts';

// A node that speaks JSON-RPC and shows a world of the model: what is final, what is only mined, where aliases lead.

/** A final DID is mined here, any other one there: neither is so deep that its watch ends. */
const [DEEP, FINAL, SHALLOW, HEAD] = [950, 960, 990, 1000] as const;
const REGISTRY = '0x00000000000000000000000000000000000d1d00';
const TOPIC = '0x3d34a9edac1831cc11a06bc2728e2d1c6542a5d8a4dff2ae70720a4f8bbab31b';

/** The node's settings for a vault. */
export const nodeVars = ({ url }: Upstream) => ({
  RPC_URL: url,
  CHAIN_ID: '84532',
  DID_REGISTRY_ADDRESS: REGISTRY,
  FINALITY_BLOCKS: String(HEAD - FINAL),
});

export const addressOf = (did: string): `0x${string}` => `0x${didHash(did).slice(-40)}`;
/** The transaction that registers a DID. */
export const txOf = (did: string) => didHash(`the transaction of ${did}`);
export const quantity = (n: number) => `0x${n.toString(16)}`;

/** Starts a node for the world that `of` gives; `keyOf` tells 64 bytes as hex of a key's name. */
export function startStandIn(of: () => World, keyOf: (name: string) => string): Upstream {
  const node = startUpstream();
  const one = (call: Received) => resultOf(call, answer(of(), call, keyOf));
  node.answer = (call) => (Array.isArray(call.body) ? call.body.map((body) => one({ ...call, body })) : one(call));
  return node;
}

function answer(world: World, { body }: Received, keyOf: (name: string) => string): unknown {
  const { method, params } = body as { method: string; params: readonly [never, string] };
  switch (method) {
    case 'eth_chainId':
      return quantity(84532);
    case 'eth_blockNumber':
      return quantity(HEAD);
    case 'eth_getBlockByNumber':
      return blockOf(world, params[0]);
    case 'eth_getCode':
      return '0x01';
    case 'eth_getTransactionReceipt':
      return receiptOf(world, params[0]);
    case 'eth_call':
      return callOf(world, params[0], params[1] !== 'latest', keyOf);
    default:
      throw new Error(`the stand-in knows no ${method}`);
  }
}

/** A re-org gives other hashes to the blocks that are not final. */
function blockOf({ reorgs }: World, tag: string) {
  const number = tag === 'latest' ? HEAD : tag === 'finalized' ? FINAL : Number(tag);
  return { number: quantity(number), hash: didHash(`block ${number} after ${number > FINAL ? reorgs : 0} re-orgs`) };
}

function receiptOf(world: World, hash: string): unknown {
  const did = Array.from(world.dids.keys()).find((one) => txOf(one) === hash);
  if (did === undefined) return null;
  const { number: blockNumber, hash: blockHash } = blockOf(
    world,
    quantity(world.dids.get(did) === 'final' ? DEEP : SHALLOW),
  );
  const controller = `0x${addressOf(did).slice(2).padStart(64, '0')}`;
  const logs = [{ address: REGISTRY, topics: [TOPIC, didHash(did), controller] }];
  return { status: '0x1', blockNumber, blockHash, logs };
}

function callOf(
  world: World,
  { to, data }: { readonly to: string; readonly data: string },
  isFinal: boolean,
  keyOf: (name: string) => string,
): string {
  const did = [...DIDS, ...world.dids.keys()].find((one) => addressOf(one) === to);
  if (did !== undefined) return `0x${keyOf(shownKey(did))}`;
  const handle = HANDLES.find((one) => aliasHash(one.slice('handle:'.length)) === `0x${data.slice(10)}`);
  const { now, final } = aliasOf(world, handle ?? '');
  const led = isFinal ? final : now;
  return led === null ? `0x${'0'.repeat(64)}` : didHash(led);
}
