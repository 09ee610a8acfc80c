// A vault in which every example of docs/http.md has what it is about: what its variables stand for is made just before.
import { createHash } from 'node:crypto';
import { Hex, Secp256k1 } from 'ox';
import { toBase64url } from '../../lib/base/bytes.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { makeDoctorToken } from '../../lib/identity/doctor-token.ts';
import { type BareJwk, thumbprintOf } from '../../lib/signing/jwk.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { addressOf, devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { SAMPLES } from '../../scripts/openapi/samples.ts';
import { createCandidate, prove } from './candidates.ts';
import { whileTimePasses } from './clock.ts';
import { createHolder, keyProof } from './credentials.ts';
import { registerData } from './onchain.ts';
import { clientsFile, codeFor, OPENID_VARS, type AppRequest as OpenIdRequest, SECRETS, tokensFor } from './openid.ts';
import { createPayer, payOrder } from './payers.ts';
import { startReceiver, WEBHOOK_SECRET } from './receiver.ts';
import {
  attest,
  contactBody,
  createOwner,
  recoveryBody,
  startRecoveryChain,
  startRecoveryVault,
  vetoOf,
} from './recovery.ts';
import { newcomer, register } from './sign-ups.ts';
import { nonceFor, originOf } from './touch.ts';
import { resultOf, startUpstream } from './upstream.ts';
import { startVault, type TestVault, VAULT_SECRET } from './vault.ts';

/** What variables stand for. */
export type Variables = Readonly<Record<string, unknown>>;

/** The vault that serves an example, and the values of its variables. */
export interface Prepared {
  readonly t: TestVault;
  readonly variables: Variables;
}

/** The world, and the preparation of each example. */
export interface ExampleWorld {
  prepare(operation: string): Promise<Prepared>;
  stop(): Promise<void>;
}

const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');
const METRICS_TOKEN = 'm'.repeat(40);
const OPERATOR = { Authorization: `Bearer ${OPERATOR_SECRET}` };
const EMAIL = String(SAMPLES['identifier']);

/** Starts a chain, a bundler's stand-in, a receiver of webhooks and the vaults. */
export async function openExampleWorld(): Promise<ExampleWorld> {
  const chain = await startRecoveryChain();
  const { rpc, contracts } = chain;
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 410 });
  const bundler = startUpstream();
  bundler.answer = (call) => resultOf(call, [contracts.entryPoint]);
  const settings = {
    BUNDLER_URL: bundler.url,
    FOLLOWER: 'true',
    FOLLOWER_START_BLOCK: '0',
    METRICS_TOKEN,
    RELATED_ORIGINS: 'https://shop.example',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    MAX_REGISTRATIONS_PER_IP: '1000',
  };
  const registering = { ...settings, REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
  let snapshot = await rpc('evm_snapshot');
  let t = await startRecoveryVault(chain, settings);
  /** The chain as it was and a vault that has just begun: no example knows of another. */
  const begin = async (operation: string) => {
    await t.stop();
    await rpc('evm_revert', [snapshot]);
    snapshot = await rpc('evm_snapshot');
    // The registrar of the others is not the vault's own DID.
    const isPlain = operation === 'GET /.well-known/did.json';
    const own = /\/(?:release|credentials)$/.test(operation) ? registering : settings;
    const isOpenId =
      / \/(?:authorize(?:\/config)?$|token|userinfo|jwks|v1\/console\/apps$|\.well-known\/(?:openid|oauth))/.test(
        operation,
      );
    const vars = isOpenId ? { ...registering, ...OPENID_VARS } : own;
    t = isPlain ? await startVault() : await startRecoveryVault(chain, vars, clientsFile());
    await t.work();
  };

  let people = 0;
  const owner = () => createOwner(chain, t, `person${++people}@example.com`);
  const accountOf = async () => ({ ACCOUNT: (await owner()).account });
  const codeOf = async () => {
    await t.call('POST /api/verify/send', { identifier: EMAIL, channel: 'email' });
  };
  const onChain = async (handle: string) => {
    const did = `did:key:z${toBase64url(crypto.getRandomValues(new Uint8Array(24))).replace(/\W|_/g, 'x')}`;
    const data = registerData({ did, handle });
    const privateKey = Secp256k1.randomPrivateKey();
    await rpc('anvil_setBalance', [addressOf(privateKey), '0xde0b6b3a7640000']);
    const { transactionHash } = await sendTransaction(rpc, privateKey, {
      to: contracts.didRegistry,
      data,
    });
    return { did, txHash: transactionHash, credentialId: toBase64url(crypto.getRandomValues(new Uint8Array(16))) };
  };
  const recorded = async () => {
    const handle = `person${++people}`;
    const claim = await onChain(handle);
    await t.call('POST /api/dids', { ...claim, identifier: handle, channel: 'handle' });
    await t.work();
    return { ...claim, handle };
  };
  const recordedId = async () => {
    const { did } = await recorded();
    return { ID: (await t.call('GET /v1/console/registrations', { did }, OPERATOR)).body.registrations[0].id };
  };
  const opened = async () => {
    const of = await owner();
    const passkey = createPasskey();
    await whileTimePasses(t.clock, t.call('POST /api/recoveries', recoveryBody(t, of, passkey)));
    return { of, passkey };
  };
  const named = (body: Readonly<Record<string, unknown>>): Variables => {
    const names: Readonly<Record<string, string>> = { smartAccount: 'ACCOUNT' };
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [names[name] ?? name.replace(/[A-Z]/g, '_$&').toUpperCase(), value]),
    );
  };
  const join = async () => {
    const id = crypto.randomUUID().replaceAll('-', '');
    const { account, passkey } = await owner();
    await t.call('POST /api/accounts/joins', { id, smartAccount: account });
    return { JOIN: id, PUB_KEY_X: Hex.fromBytes(passkey.key.x), PUB_KEY_Y: Hex.fromBytes(passkey.key.y) };
  };
  const registered = async () => {
    const one = await newcomer({ rpc, factory: contracts.accountFactory, registry: contracts.didRegistry }, t);
    await register(t, one.body);
    return one;
  };
  /** Ada's address, which another DID has claimed, and her passkey's signature that lets it go. */
  const letting = async () => {
    const on = { rpc, factory: contracts.accountFactory, registry: contracts.didRegistry };
    const now = t.clock.now();
    const [ada, other] = [await createCandidate(on, 'ada', now), await createCandidate(on, 'ada', now + 1)];
    const claims = [ada, { ...other, credentialId: 'A'.repeat(22) }].map((one) => ({
      ...one.body,
      credentialId: one.credentialId,
      proof: prove(on, one, {}, { origin: originOf(t) }),
    }));
    for (const claim of claims) {
      const { status, body } = await register(t, claim);
      if (status !== 200) throw new Error(`not registered: ${body.error}`);
    }
    const { registrar } = (await t.call('GET /api/contracts')).body;
    const lines = ['vault/release/v1', registrar, `email:${EMAIL}`, String(other.body['did'])];
    const nonce = await nonceFor(t, lines.join('\n'));
    const signed = createHash('sha256')
      .update([...lines, nonce].join('\n'))
      .digest();
    return { NONCE: nonce, PROOF: ada.passkey.assert(signed, { origin: originOf(t) }) };
  };
  /** Ada's address, her passkey's signature for the key of a holder, and that key's proof. */
  const credential = async () => {
    const on = { rpc, factory: contracts.accountFactory, registry: contracts.didRegistry };
    const ada = await createCandidate(on, 'ada', t.clock.now());
    const { status, body } = await register(t, ada.body);
    if (status !== 200) throw new Error(`not registered: ${body.error}`);
    await rpc('anvil_mine', ['0x40']);
    await t.clock.advance(30_000);
    await t.work();
    const holder = await createHolder();
    const { registrar } = (await t.call('GET /api/contracts')).body;
    const lines = ['vault/credential/v1', registrar, `email:${EMAIL}`, thumbprintOf(holder.jwk as BareJwk)];
    const nonce = await nonceFor(t, lines.join('\n'));
    const signed = createHash('sha256')
      .update([...lines, nonce].join('\n'))
      .digest();
    return {
      CREDENTIAL_ID: ada.credentialId,
      NONCE: nonce,
      PROOF: ada.passkey.assert(signed, { origin: originOf(t) }),
      HOLDER: await keyProof(t, holder, signed.toString('base64url')),
    };
  };
  const documentedRequest: OpenIdRequest = {
    client: 'tea',
    redirectUri: String(SAMPLES['redirect_uri']),
    verifier: String(SAMPLES['code_verifier']),
    query: String(SAMPLES['request']),
  };
  const access = async () => {
    const { access_token } = await tokensFor(t, await registered(), documentedRequest);
    return { ACCESS_TOKEN: access_token };
  };
  const token = async () => (await t.call('POST /v1/console/token', { app: 'default' }, OPERATOR)).body;

  const preparations: Readonly<Record<string, () => Promise<Variables>>> = {
    'POST /api/verify/check': async () => {
      await codeOf();
      return { CODE: t.codeFor(EMAIL) };
    },
    'POST /pass': async () => {
      await codeOf();
      return { PASS: t.passFor(EMAIL) };
    },
    'POST /api/sessions': async () => ({ DID: 'did:key:zAda' }),
    'POST /api/dids': async () => named(await onChain('ada')),
    'POST /api/dids/release': letting,
    'POST /api/credentials': credential,
    'GET /api/dids/lookup': async () => named(await recorded()),
    'GET /api/accounts/predict': async () => join(),
    'GET /api/accounts/state': accountOf,
    'POST /api/accounts/joins': async () => ({ JOIN: 'ab'.repeat(16), ...(await accountOf()) }),
    'GET /api/accounts/joins': join,
    'POST /api/accounts/joins/keys': join,
    'GET /api/balance': async () => ({ CHAIN_ID: '84532', ...(await accountOf()) }),
    'POST /api/recoveries/commitments': async () => ({ ATTESTATION: attest(t, EMAIL), ...(await accountOf()) }),
    'POST /api/recoveries/accounts': async () => ({ ATTESTATION: attest(t, (await owner()).email) }),
    'POST /api/recoveries': async () => named(recoveryBody(t, await owner(), createPasskey())),
    'GET /api/recoveries/status': async () => ({ ACCOUNT: (await opened()).of.account }),
    'POST /api/recoveries/vetoes': async () => {
      const { of, passkey } = await opened();
      return { ACCOUNT: of.account, SIGNATURE: vetoOf(of, passkey, 1) };
    },
    'POST /api/recoveries/cancellations': async () => {
      const { of } = await opened();
      return { ACCOUNT: of.account, ATTESTATION: attest(t, of.email) };
    },
    'POST /api/recoveries/contacts': async () => {
      const { account, passkey } = await owner();
      return named(await contactBody(t, account, passkey, 'second@example.com'));
    },
    'POST /token': async () => ({
      AUTHORIZATION_CODE: await codeFor(t, await registered(), documentedRequest),
      CLIENT_SECRET: SECRETS.tea,
    }),
    'GET /userinfo': access,
    'POST /userinfo': access,
    'GET /api/indexer/aliases': async () => ({ ALIAS_HASH: aliasHash((await recorded()).handle) }),
    'GET /api/indexer/dids': async () => ({ DID_HASH: didHash((await recorded()).did) }),
    'GET /api/indexer/accounts': accountOf,
    'GET /pay/token': accountOf,
    'GET /pay/outcome': accountOf,
    'GET /pay/verify': async () => {
      const order = { origin: String(SAMPLES['origin']), id: 'order-7', to: String(SAMPLES['to']), token: 'native' };
      const payer = await createPayer(rpc, 2);
      const paid = await payOrder(rpc, payer, { ...order, chainId: 84532, amount: String(SAMPLES['amount']) });
      return { CHAIN_ID: '84532', USER_OP_HASH: paid.userOpHash, TX_HASH: paid.txHash, ACCOUNT: paid.account };
    },
    'POST /v1/console/revoke': async () => ({ CID: (await token()).cid }),
    'GET /v1/console/events': async () => ({ TOKEN: (await token()).token }),
    'GET /v1/console/registrations': recordedId,
    'GET /v1/console/registrations/detail': recordedId,
    'GET /v1/console/registrations/export': recordedId,
    'GET /v1/console/sessions': recordedId,
    'GET /v1/console/sessions/export': recordedId,
    'POST /v1/console/registrations/undo': recordedId,
    'POST /v1/console/recoveries/cancel': async () => ({ ACCOUNT: (await opened()).of.account }),
    'POST /v1/console/operators/revoke': async () => {
      await t.call('POST /v1/console/operators', { name: 'ada', role: 'viewer' }, OPERATOR);
      return {};
    },
    'POST /v1/console/invites/revoke': async () => ({
      ID: (await t.call('POST /v1/console/invites', {}, OPERATOR)).body.invite.id,
    }),
    'POST /v1/console/webhooks/resend': async () => {
      await recorded();
      await t.work();
      return { ID: (await t.call('GET /v1/console/webhooks', { status: 'dead' }, OPERATOR)).body.webhooks[0].id };
    },
    'GET /api/client': async () => ({ DOCTOR_TOKEN: makeDoctorToken(Hex.toBytes(`0x${VAULT_SECRET}`), t.clock.now()) }),
  };
  return {
    async prepare(operation) {
      await begin(operation);
      return { t, variables: { OPERATOR_SECRET, METRICS_TOKEN, ...(await preparations[operation]?.()) } };
    },
    async stop() {
      await t.stop();
      await Promise.all([receiver.stop(), bundler.stop(), chain.stop()]);
    },
  };
}
