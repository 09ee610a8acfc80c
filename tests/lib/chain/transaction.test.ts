import { afterAll, expect, test } from 'bun:test';
import { type Hex, TxEnvelopeEip1559 } from 'ox';
import { signerAddress, signTransaction } from '../../../lib/chain/transaction.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';

const chain = await startChain();
afterAll(chain.stop);

const { address, privateKey } = devAccount('registrar');
const unsigned = {
  chainId: 84532,
  nonce: 0,
  to: devAccount('bob').address.toLowerCase(),
  data: '0x',
  gas: 21_000n,
  maxFee: 2_000_000_000n,
  tip: 1_000_000n,
};

test('a signed transaction is what was asked for, and a node takes it under the same hash', async () => {
  const { raw, hash } = signTransaction(unsigned, privateKey);
  const read = TxEnvelopeEip1559.deserialize(raw as TxEnvelopeEip1559.Serialized);
  const { chainId, to, gas, maxFee, tip } = unsigned;
  expect(read).toMatchObject({ chainId, to, gas, maxFeePerGas: maxFee, maxPriorityFeePerGas: tip });
  expect(await chain.rpc('eth_sendRawTransaction', [raw])).toBe(hash);
  const mined = (await chain.rpc('eth_getTransactionByHash', [hash])) as { from: Hex.Hex; nonce: Hex.Hex };
  expect([mined.from, Number(mined.nonce)]).toEqual([address.toLowerCase() as Hex.Hex, 0]);
});

test('the same transaction always gets the same bytes, another nonce or fee others', () => {
  const { raw } = signTransaction(unsigned, privateKey);
  expect(signTransaction({ ...unsigned }, privateKey).raw).toBe(raw);
  expect(signTransaction({ ...unsigned, nonce: 1 }, privateKey).raw).not.toBe(raw);
  expect(signTransaction({ ...unsigned, tip: 1_125_000n }, privateKey).raw).not.toBe(raw);
});

test('the signer is the key’s address, lower-case', () => {
  expect(signerAddress(privateKey)).toBe(address.toLowerCase());
});
