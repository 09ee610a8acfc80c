import { describe, expect, test } from 'bun:test';
import { VaultError } from '../../../lib/base/error.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { identifierHash, NO_HASH, registrationChallenge } from '../../../lib/registration/challenge.ts';
import {
  expectedOf,
  type OpenedProof,
  openProof,
  PROOF_LIFE_MAX_MS,
  PROOF_SKEW_MS,
  type ProvenRequest,
  proofText,
  storedProof,
  verifyProof,
} from '../../../lib/registration/proof.ts';
import { type Ceremony, createPasskey } from '../../support/passkey.ts';

const NOW = 1_704_067_200_000;
const ACCOUNT = `0x${'aa'.repeat(20)}`;
const config = {
  baseUrl: 'https://vault.example.com',
  relatedOrigins: ['https://shop.example'],
  appOrigins: ['https://app.example', `android:apk-key-hash:${'A'.repeat(43)}`],
  rpIds: ['vault.example.com', 'example.com'],
  registrarDid: 'did:web:vault.example.com',
  chainId: 84532,
  didRegistryAddress: '0xD38972fFEA26b66f09e2109E650887aCD447E7B7' as `0x${string}`,
};
const passkey = createPasskey({ origin: config.baseUrl, rpId: 'example.com' });
const request: ProvenRequest = {
  identifier: parseIdentifier('email', 'alice@example.com'),
  did: `did:pkh:eip155:84532:${ACCOUNT}`,
  credentialId: 'AAECAwQFBgcICQoLDA0ODw',
  smartAccount: ACCOUNT,
  attestationSignature: `0x${'5a'.repeat(32)}`,
};

/** What a client signs for a request. */
function consentOf({ identifier, did, credentialId, smartAccount = ACCOUNT, attestationSignature }: ProvenRequest) {
  return {
    registrarDidHash: didHash(config.registrarDid),
    chainId: config.chainId,
    registry: config.didRegistryAddress,
    didHash: didHash(did),
    aliasHash: NO_HASH,
    smartAccount: smartAccount as `0x${string}`,
    credentialId,
    identifierHash: identifierHash(identifier, attestationSignature),
    expiresAt: NOW / 1000 + 300,
  };
}

function make(ceremony: Ceremony = {}, change: Partial<ReturnType<typeof consentOf>> = {}, by = passkey) {
  const consent = { ...consentOf(request), ...change };
  return { assertion: by.assert(registrationChallenge(consent), ceremony), expiresAt: consent.expiresAt };
}

type Given = { assertion: ReturnType<typeof passkey.assert>; expiresAt: number | undefined };

/** `opened`, or the reason of the refusal. */
function judge(given: Given, { now = NOW, to = request, by = config }: Partial<Judging> = {}): unknown {
  try {
    openProof({ config: by }, to, given, now);
    return 'opened';
  } catch (error) {
    const { code, details, message } = error as VaultError;
    expect(error).toBeInstanceOf(VaultError);
    if (code === 'bad_request') return message;
    expect([code, typeof details.hint]).toEqual(['proof_invalid', 'string']);
    return details.reason;
  }
}

interface Judging {
  readonly now: number;
  readonly to: ProvenRequest;
  readonly by: typeof config;
}

describe('a proof is opened', () => {
  test('that was made for its request', () => {
    expect(judge(make())).toBe('opened');
  });

  test.each([
    ['of BASE_URL', 'https://vault.example.com'],
    ['of RELATED_ORIGINS', 'https://shop.example'],
    ['of APP_ORIGINS', 'https://app.example'],
    ['of an app', `android:apk-key-hash:${'A'.repeat(43)}`],
  ])('of the origin %s', (_, origin) => {
    expect(judge(make({ origin }))).toBe('opened');
  });

  test.each(['vault.example.com', 'example.com'])('under the RP ID %s', (rpId) => {
    expect(judge(make({ rpId }))).toBe('opened');
  });

  test('of any loopback origin by a vault on loopback, and by no other', () => {
    const by = { ...config, baseUrl: 'http://localhost:8787' };
    for (const origin of ['http://localhost', 'http://127.0.0.1:3000', 'http://[::1]:1', 'https://app.localhost:444']) {
      expect([origin, judge(make({ origin }), { by }), judge(make({ origin }))]).toEqual([origin, 'opened', 'origin']);
    }
    for (const origin of ['https://localhost.example', 'http://localhost/', 'ftp://localhost', 'null'])
      expect([origin, judge(make({ origin }), { by })]).toEqual([origin, 'origin']);
  });

  test('from 10 minutes before its end, with 60 seconds of skew, to 60 seconds after it', () => {
    const given = make();
    const end = (NOW / 1000 + 300) * 1000;
    const at = (now: number) => judge(given, { now });
    const first = end - PROOF_LIFE_MAX_MS - PROOF_SKEW_MS;
    expect([at(first - 1), at(first)]).toEqual(['expires_too_late', 'opened']);
    expect([at(end + PROOF_SKEW_MS - 1), at(end + PROOF_SKEW_MS)]).toEqual(['opened', 'expired']);
  });
});

describe('403 proof_invalid', () => {
  test('version: a proof without an expiry, as version 1 had none', () => {
    expect(judge({ ...make(), expiresAt: undefined })).toBe('version');
  });

  test('challenge: one that was made for another value of any member', () => {
    const other = `0x${'0b'.repeat(32)}` as const;
    const changes: Partial<ReturnType<typeof consentOf>>[] = [
      { registrarDidHash: other },
      { chainId: 8453 },
      { registry: `0x${'0c'.repeat(20)}` },
      { didHash: other },
      { aliasHash: other },
      { smartAccount: `0x${'0d'.repeat(20)}` },
      { credentialId: 'AAECAwQFBgcICQoLDA0OEA' },
      { identifierHash: other },
    ];
    for (const change of changes) expect([change, judge(make({}, change))]).toEqual([change, 'challenge']);
    expect(judge({ ...make(), expiresAt: NOW / 1000 + 301 })).toBe('challenge');
  });

  test('challenge: a proof of the same person for another identifier, attestation or channel', () => {
    const given = make();
    const requests: ProvenRequest[] = [
      { ...request, identifier: parseIdentifier('email', 'bob@example.com') },
      { ...request, attestationSignature: `0x${'5b'.repeat(32)}` },
      { ...request, identifier: parseIdentifier('handle', 'alice'), attestationSignature: undefined },
    ];
    for (const to of requests) expect(judge(given, { to })).toBe('challenge');
  });

  test.each<[string, Ceremony]>([
    ['type', { clientData: { type: 'webauthn.create' } }],
    ['cross_origin', { clientData: { crossOrigin: true } }],
    ['cross_origin', { clientData: { crossOrigin: 'false' } }],
    ['cross_origin', { clientData: { crossOrigin: false, topOrigin: 'https://evil.example' } }],
    ['origin', { origin: 'https://evil.example' }],
    ['origin', { origin: 'https://vault.example.com.evil.example' }],
    ['origin', { origin: 'http://vault.example.com' }],
    ['rp_id', { rpId: 'evil.example' }],
    ['rp_id', { rpId: 'app.example.com' }],
    ['user_presence', { flags: 0x04 }],
    ['user_verification', { flags: 0x01 }],
    ['authenticator_data', { authenticatorData: new Uint8Array(36) }],
    ['client_data', { clientDataJSON: new TextEncoder().encode('{') }],
    ['client_data', { clientDataJSON: new TextEncoder().encode('[]') }],
    ['client_data', { clientDataJSON: Uint8Array.of(0x22, 0xff, 0x22) }],
    ['client_data', { clientDataJSON: new TextEncoder().encode('{"type":"webauthn.get","origin":"x"}') }],
  ])('%s', (reason, ceremony) => {
    expect(judge(make(ceremony))).toBe(reason);
  });

  test('400 without the account that it names', () => {
    const to = { ...request, smartAccount: undefined };
    expect(judge(make(), { to })).toBe('Missing required fields with proof: smartAccount');
  });
});

describe('an opened proof', () => {
  const open = (given = make()) => openProof({ config }, request, given, NOW);
  const expected = expectedOf({ config }, request, ACCOUNT);

  test('shows the consent of the key that signed it, and of no other', async () => {
    expect(await verifyProof(open(), expected, passkey.key)).toBeUndefined();
    expect(await verifyProof(open(), expected, createPasskey().key)).toBe('signature');
  });

  test('counts for the account that it names alone', async () => {
    const controller = `0x${'ab'.repeat(20)}`;
    expect(await verifyProof(open(), { ...expected, controller }, passkey.key)).toBe('account');
    const upper = { ...expected, controller: `0x${'AA'.repeat(20)}` };
    expect(await verifyProof(open(), upper, passkey.key)).toBeUndefined();
  });

  test('counts for nothing else than what it was made for', async () => {
    const other = `0x${'0b'.repeat(32)}`;
    const changes = [
      { chainId: 1 },
      { registry: ACCOUNT },
      { didHash: other },
      { channel: 'handle', aliasHash: other },
      { credentialId: 'AAECAwQFBgcICQoLDA0OEA' },
    ];
    for (const change of changes)
      expect([change, await verifyProof(open(), { ...expected, ...change }, passkey.key)]).toEqual([
        change,
        'signature',
      ]);
  });

  test('is the same after it was stored, whatever the settings are then', async () => {
    const opened = open();
    expect(storedProof(proofText(opened))).toEqual(opened);
    const withKey = { ...opened, key: `0x${'0a'.repeat(64)}` };
    expect(storedProof(proofText(withKey))).toEqual(withKey);
    expect(await verifyProof(storedProof(proofText(opened)) as OpenedProof, expected, passkey.key)).toBeUndefined();
  });

  test('is nothing when it was stored by an earlier release, or is damaged', () => {
    const opened = open();
    const texts = [
      null,
      '',
      '{',
      '{}',
      JSON.stringify(opened.assertion),
      JSON.stringify({ ...opened, version: 1 }),
      JSON.stringify({ ...opened, assertion: { signature: 'AA' } }),
      JSON.stringify({ ...opened, smartAccount: 7 }),
      JSON.stringify({ ...opened, expiresAt: '7' }),
      JSON.stringify({ ...opened, identifierHash: '0x' }),
      JSON.stringify({ ...opened, key: '0x' }),
    ];
    for (const text of texts) expect([text, storedProof(text)]).toEqual([text, undefined]);
  });
});
