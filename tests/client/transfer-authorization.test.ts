import { expect, test } from 'bun:test';
import { Hex, TypedData } from 'ox';
import { approvalOf, messages } from '../../client/approval-terms.ts';
import { authorizationOf, type TokenDomain, type TransferAuthorization } from '../../client/transfer-authorization.ts';
import { AUTHORIZATION_TYPES } from '../support/authorizations.ts';

const AUTHORIZATION: TransferAuthorization = {
  from: `0x${'a1'.repeat(20)}`,
  to: `0x${'b2'.repeat(20)}`,
  value: '1250000',
  validAfter: '1767225000',
  validBefore: '1767226200',
  nonce: `0x${'c3'.repeat(32)}`,
};
const USDC: TokenDomain = {
  chainId: 84532,
  name: 'USDC',
  version: '2',
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
};

test('an authorization has the hash of EIP-712, as another library makes it', () => {
  const { from, to, value, validAfter, validBefore, nonce } = AUTHORIZATION;
  const { name, version, chainId, address } = USDC;
  const payload = TypedData.getSignPayload({
    domain: { name, version, chainId, verifyingContract: address as Hex.Hex },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as Hex.Hex,
      to: to as Hex.Hex,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex.Hex,
    },
  });
  expect(Hex.fromBytes(messages.typedDataHash(authorizationOf(AUTHORIZATION, USDC)))).toBe(payload);
});

test('each member, the token and the chain are in what is signed', () => {
  const hashOf = (more: object, token = USDC) =>
    Hex.fromBytes(messages.typedDataHash(authorizationOf({ ...AUTHORIZATION, ...more }, token)));
  const other = `0x${'d4'.repeat(20)}`;
  const hashes = [
    hashOf({}),
    ...[{ from: other }, { to: other }, { nonce: `0x${'c4'.repeat(32)}` }].map((more) => hashOf(more)),
    ...['value', 'validAfter', 'validBefore'].map((name) => hashOf({ [name]: '7' })),
    ...[{ name: 'USD Coin' }, { version: '1' }, { chainId: 8453 }, { address: other }].map((more) =>
      hashOf({}, { ...USDC, ...more }),
    ),
  ];
  expect(new Set(hashes).size).toBe(11);
});

test('members of another form are refused, not cut or filled up', () => {
  for (const more of [
    { from: '0xa1' },
    { to: '0x' },
    { nonce: '0xc3' },
    { value: '-1' },
    { value: String(2n ** 256n) },
  ])
    expect(() => authorizationOf({ ...AUTHORIZATION, ...more }, USDC)).toThrow();
});

test.each([1, 2] as const)(
  'no key of an account of kind %d signs the digest of a text for an authorization',
  (kind) => {
    const account = { kind, address: AUTHORIZATION.from, chainId: USDC.chainId };
    const terms = {
      vault: 'https://vault.example',
      app: 'https://app.example',
      id: AUTHORIZATION.nonce,
      expires: 1767226200,
    };
    const text = approvalOf({ ...terms, text: 'Pay 1.25 USDC' }, account);
    const transfer = authorizationOf(AUTHORIZATION, USDC);
    const digests = [text, transfer].map((typed) => Hex.fromBytes(messages.typedDataDigest(account, typed)));
    expect(digests[0]).not.toBe(digests[1]);
    // Neither domain nor type of one is the other's, so no terms make them equal.
    expect(text.domainSeparator).not.toEqual(transfer.domainSeparator);
    expect(text.type).not.toBe(transfer.type);
  },
);
