import { Address, HdKey, type Hex, Mnemonic, Secp256k1, type TransactionReceipt, TxEnvelopeEip1559 } from 'ox';
import type { ChainRpc } from './chain.ts';

/** A key and the address it controls. */
export interface Account {
  readonly privateKey: Hex.Hex;
  readonly address: Address.Address;
}

/** What to send; value in wei. */
export interface Call {
  readonly to: Address.Address;
  readonly data?: Hex.Hex;
  readonly value?: bigint;
}

/** The mnemonic every anvil funds its first ten accounts from: public, and worth nothing anywhere else. */
const MNEMONIC = 'test test test test test test test test test test test junk';
/** Which of them plays whom: relay, bundler and paymaster must not share a key with anyone. */
const ROLES = { owner: 0, registrar: 1, executor: 2, utility: 3, alice: 4, bob: 5, sponsor: 6 } as const;
const PRIORITY_FEE_WEI = 1_000_000n;
const POLL_MS = 5;
const RECEIPT_TIMEOUT_MS = 60_000;

/** One of the local chain's funded accounts. */
export function devAccount(role: keyof typeof ROLES): Account {
  const { privateKey } = HdKey.fromSeed(Mnemonic.toSeed(MNEMONIC)).derive(HdKey.path({ index: ROLES[role] }));
  return { privateKey, address: addressOf(privateKey) };
}

/** The checksummed address a key controls. */
export function addressOf(privateKey: Hex.Hex): Address.Address {
  return Address.checksum(Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey })));
}

/**
 * Signs, sends and waits until mined. Throws the node's error when the call would revert. One call at a time per key:
 * the nonce is read from the chain.
 */
export async function sendTransaction(rpc: ChainRpc, privateKey: Hex.Hex, call: Call): Promise<TransactionReceipt.Rpc> {
  const { to, data = '0x', value = 0n } = call;
  const from = addressOf(privateKey);
  const gas = await quantity(rpc, 'eth_estimateGas', [{ from, to, data, value: `0x${value.toString(16)}` }]);
  const gasPrice = await quantity(rpc, 'eth_gasPrice', []);
  const envelope = TxEnvelopeEip1559.from({
    chainId: Number(await quantity(rpc, 'eth_chainId', [])),
    nonce: await quantity(rpc, 'eth_getTransactionCount', [from, 'pending']),
    to,
    data,
    value,
    // The estimate is exact for the latest block only; the base fee can at most double in six blocks.
    gas: (gas * 12n) / 10n,
    maxFeePerGas: gasPrice * 2n + PRIORITY_FEE_WEI,
    maxPriorityFeePerGas: PRIORITY_FEE_WEI,
  });
  const signature = Secp256k1.sign({ payload: TxEnvelopeEip1559.getSignPayload(envelope), privateKey });
  const hash = await rpc('eth_sendRawTransaction', [TxEnvelopeEip1559.serialize(envelope, { signature })]);
  return waitForReceipt(rpc, hash as Hex.Hex);
}

/** Waits until a transaction is mined; throws when it reverted. */
export async function waitForReceipt(rpc: ChainRpc, hash: Hex.Hex): Promise<TransactionReceipt.Rpc> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as TransactionReceipt.Rpc | null;
    if (receipt?.status === '0x1' && (await isShown(rpc, receipt))) return receipt;
    if (receipt && receipt.status !== '0x1') throw new Error(`Transaction ${hash} reverted`);
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`Transaction ${hash} was not mined in ${RECEIPT_TIMEOUT_MS} ms`);
}

/** anvil has a receipt a moment before it shows the transaction in its block. */
async function isShown(rpc: ChainRpc, { transactionHash, blockHash }: TransactionReceipt.Rpc): Promise<boolean> {
  const shown = (await rpc('eth_getTransactionByHash', [transactionHash])) as { blockHash: Hex.Hex | null } | null;
  return shown?.blockHash === blockHash;
}

async function quantity(rpc: ChainRpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return BigInt((await rpc(method, params)) as string);
}
