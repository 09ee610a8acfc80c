import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Base64, Bytes, Hex } from 'ox';
import { authorizationBy, type Transfer } from '../../assets/approve/transfer.ts';
import { type Approver, signedAnswer } from '../../client/approval-answer.ts';
import { messages } from '../../client/approval-terms.ts';
import { authorizationOf } from '../../client/transfer-authorization.ts';
import { USDC_DOMAINS } from '../../client/usdc.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { settle } from '../support/paid-api.ts';
import { createPayer, PAYEE } from '../support/payers.ts';

const { rpc, stop } = await startChain();
afterAll(stop);

const USDC = { ...USDC_DOMAINS[84532], chainId: 84532 };
const transfer = (): Transfer => ({
  ...{ token: USDC, from: undefined, to: PAYEE.toLowerCase() as Hex.Hex, amount: 1_250_000n, label: undefined },
  ...{ validAfter: 0, validBefore: 2 ** 40, nonce: Hex.random(32) },
});

/** The answer of the page for an account, by a passkey in software. */
function sign(
  { address, kind = 1, factory, factoryData, passkey: own }: SmartAccount,
  more: Partial<SignOptions> = {},
) {
  const { asked = transfer(), isUnborn = false, passkey = own, index = 0 } = more;
  const key = { x: Hex.fromBytes(passkey.key.x), y: Hex.fromBytes(passkey.key.y) };
  const creation = isUnborn ? { factory, factoryData } : undefined;
  const approver: Approver = { address, kind, chainId: 84532, index, creation, credentialId: '', key };
  const authorization = authorizationBy(address, asked);
  const typed = authorizationOf(authorization, asked.token);
  const made = passkey.assert(messages.typedDataDigest(approver, typed));
  const bytes = (text: string) => Bytes.from(Base64.toBytes(text));
  const assertion = {
    authenticatorData: bytes(made.authenticatorData),
    clientDataJSON: bytes(made.clientDataJSON),
    signature: rawSignature(bytes(made.signature)),
  };
  return { authorization, ...signedAnswer(typed, approver, assertion) };
}

interface SignOptions {
  readonly asked: Transfer;
  readonly isUnborn: boolean;
  readonly passkey: Passkey;
  readonly index: number;
}

describe.each([1, 2] as const)('what the page signs for an account of kind %d', (kind) => {
  let account: SmartAccount;
  beforeAll(async () => {
    account = await createPayer(rpc, kind);
  });

  test('is taken by the token, first with its creation, then as it is; once each', async () => {
    for (const isUnborn of [true, false]) {
      const signed = sign(account, { isUnborn });
      expect(await settle(rpc, signed)).toBeUndefined();
      expect(await settle(rpc, signed)).toContain('authorization is used or canceled');
    }
  });

  test.each<[string, Partial<Transfer> & object]>([
    ['another chain', { token: { ...USDC, chainId: 8453 } }],
    ['another token', { token: { ...USDC, address: PAYEE } }],
    ['another name of the token', { token: { ...USDC, name: 'USD Coin' } }],
  ])('is refused for %s', async (_, more) => {
    expect(await settle(rpc, sign(account, { asked: { ...transfer(), ...more } }))).toContain('invalid signature');
  });

  test('is refused of another passkey, another place among the keys, and for another amount or payee', async () => {
    expect(await settle(rpc, sign(account, { passkey: createPasskey() }))).toContain('invalid signature');
    if (kind === 2) expect(await settle(rpc, sign(account, { index: 1 }))).toContain('invalid signature');
    const { authorization, signature } = sign(account);
    for (const swapped of [{ value: '1250001' }, { to: USDC.address }])
      expect(await settle(rpc, { authorization: { ...authorization, ...swapped }, signature })).toContain(
        'invalid signature',
      );
  });
});
