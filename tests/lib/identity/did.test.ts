import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Hash, Hex } from 'ox';
import { aliasHash, didHash, didNames, isDid, webDid } from '../../../lib/identity/did.ts';
import { always } from '../../support/property.ts';

describe('DID Core section 3.1', () => {
  const DIDS = ['did:example:123456789abcdefghi', 'did:a:b', 'did:0:0', 'did:hyper:base-sepolia:0xAb', 'did:new:0x00']
    .concat(['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', 'did:pkh:eip155:84532:0xab16a96D359eC26a'])
    .concat(['did:web:localhost%3A8787', 'did:ex:a.b-c_d', 'did:ex::a', 'did:ex:a::b', 'did:ex:%41%fF', 'did:ex:.'])
    .concat([`did:key:${'a'.repeat(2040)}`])
    .map((did) => [did]);
  test.each(DIDS)('%s is a DID', (did) => {
    expect(isDid(did)).toBe(true);
  });

  const OTHERS = ['', 'did', 'did:', 'did::', 'did:key', 'did:key:', 'did::abc', 'did:ex:a:', 'DID:key:a', 'Did:key:a']
    .concat(['did:Key:a', 'did:k-y:a', 'did:k%65y:a', 'did:ex:a b', ' did:ex:a', 'did:ex:a ', 'did:ex:a\n', 'did:ex:ä'])
    .concat([
      'did:ex:%',
      'did:ex:%4',
      'did:ex:%4g',
      'did:ex:a%',
      'did:ex:a/b',
      'did:ex:a?b',
      'did:ex:a#b',
      'did:ex:a~b',
    ])
    .concat(['did:ex:a;b', 'did:ex:a@b', 'urn:did:ex:a', `did:key:${'a'.repeat(2041)}`])
    .map((text) => [text]);
  test.each(OTHERS)('%p is none', (text) => {
    expect(isDid(text)).toBe(false);
  });

  test('whatever its grammar makes is a DID; one character outside of it makes it none', () => {
    const idchar = fc.oneof(fc.constantFrom(...'azAZ09.-_'), fc.constantFrom('%00', '%aF', '%99'));
    const segments = fc.array(fc.array(idchar, { maxLength: 5 }), { maxLength: 4 });
    const last = fc.array(idchar, { minLength: 1, maxLength: 5 });
    const method = fc.stringMatching(/^[a-z0-9]{1,5}$/);
    const bad = fc.tuple(fc.constantFrom(...' /?#~@%\u0000é'), fc.nat(20));
    always(fc.tuple(method, segments, last, bad), ([name, before, end, [char, at]]) => {
      const id = [...before, end].map((segment) => segment.join('')).join(':');
      expect(isDid(`did:${name}:${id}`)).toBe(true);
      const broken = `${id.slice(0, at)}${char}${id.slice(at)}`;
      if (!/^(?:[^%]|%[0-9a-fA-F]{2})*$/.test(broken) || char !== '%')
        expect(isDid(`did:${name}:${broken}`)).toBe(false);
    });
  });
});

test('DID_METHODS narrows the methods, by the whole word', () => {
  const of = (did: string) => isDid(did, ['key', 'web']);
  expect([of('did:key:a'), of('did:web:a'), of('did:keys:a'), of('did:ke:a'), of('did:pkh:a')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test.each([
  ['alice', '0x9c0257114eb9399a2985f8e75dad7600c5d89fe3824ffa99ec1c3eb8bf3b0501'],
  [
    'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    '0x80e705b90c233dc4f67f5583a1f333cbd96af938e03b24b9d2527305c4bc8490',
  ],
])('the registry knows %s by the plain keccak256 of its UTF-8, byte for byte', (text, hash) => {
  expect(didHash(text)).toBe(hash as `0x${string}`);
  expect(didHash(text.toUpperCase())).not.toBe(hash as `0x${string}`);
});

test.each([
  ['https://vault.example.com', 'did:web:vault.example.com'],
  ['https://vault.example.com:8443', 'did:web:vault.example.com%3A8443'],
  ['http://localhost:8787', 'did:web:localhost%3A8787'],
  ['http://[::1]:8787', 'did:web:%5B%3A%3A1%5D%3A8787'],
  ['https://exämple.com', 'did:web:xn--exmple-cua.com'],
])("%s has a did:web that is a DID, its host's colons encoded", (origin, did) => {
  expect([webDid(origin), isDid(did)]).toEqual([did, true]);
});

test('the canonical hash of alice is what published clients put on-chain, not the plain keccak256', () => {
  expect(aliasHash('alice')).toBe('0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc');
  expect(didHash('alice')).toBe('0x9c0257114eb9399a2985f8e75dad7600c5d89fe3824ffa99ec1c3eb8bf3b0501');
});

test('it is keccak256 of the unprefixed lower-case hex of the UTF-8, for any text', () => {
  always(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
    const hex = Buffer.from(text).toString('hex');
    expect(aliasHash(text)).toBe(Hash.keccak256(Hex.fromString(hex)));
  });
});

describe('didNames', () => {
  const account = '0xab16a96D359eC26a11e2C2b3d8f8B88942d5Bfcd';
  const other = `0x${'0'.repeat(36)}dEaD`;

  test.each([
    `did:pkh:eip155:84532:${account}`,
    `did:pkh:eip155:84532:${account.toLowerCase()}`,
    `did:pkh:eip155:84532:0x${account.slice(2).toUpperCase()}`,
    `did:hyper:base-sepolia:${account}`,
  ])('address: %s', (did) => {
    for (const controller of [account, account.toLowerCase()]) expect(didNames(did, 84532, controller)).toBe('address');
    expect(didNames(did, 8453, account)).toBeNull();
  });

  test('another: a did:pkh of this chain that names another account', () => {
    expect(didNames(`did:pkh:eip155:84532:${other}`, 84532, account)).toBe('another');
    expect(didNames(`did:pkh:eip155:8453:${other}`, 84532, account)).toBeNull();
  });

  test('the network of a did:hyper must be known: of other chains than Base and its test network none is', () => {
    expect(didNames(`did:hyper:base:${account}`, 8453, account)).toBe('address');
    expect(didNames(`did:hyper:base-sepolia:${account}`, 31337, account)).toBeNull();
    expect(didNames(`did:hyper:undefined:${account}`, 31337, account)).toBeNull();
    expect(didNames(`did:pkh:eip155:31337:${account}`, 31337, account)).toBe('address');
  });

  test.each([
    'did:web:bank.example',
    'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    `did:new:${account}`,
    `did:ethr:0x14a34:${account}`,
    `did:hyper:base-sepolia:${other}`,
    `did:hyper:${account}`,
    `did:pkh:eip155:84532:${account}:more`,
    `did:pkh:eip155:84532:${account}ff`,
    `did:pkh:eip155:084532:${account}`,
    `did:pkh:eip155:84532:${account.slice(2)}`,
    `did:pkh:solana:84532:${account}`,
    `did:pkh:eip155:84532:%30x${account.slice(2)}`,
  ])('a label: %s', (did) => {
    expect(didNames(did, 84532, account)).toBeNull();
  });
});
