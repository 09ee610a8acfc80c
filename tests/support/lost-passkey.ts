// People with phones: each phone stores its own things and has its own authenticator. They have an account, an identity
// at an app that uses the vault, and mail.
import { AbiFunction, type Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import { parseIdentifier } from '../../lib/identity/identifier.ts';
import { identifierHash, NO_HASH, registrationChallenge } from '../../lib/registration/challenge.ts';
import { type Mail, type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { addressOf, devAccount } from '../../scripts/dev-stack/wallet.ts';
import { confirm, type Device, openDevice, pressNamed, proveAddress } from './account-page.ts';
import { keepWorking } from './background.ts';
import { clickToPay } from './client-app.ts';
import { confirmWindow, createPasskeys, openShop, type Passkeys, type PayWorld, press, startPayWorld } from './pay.ts';
import { REGISTRAR_DID } from './recovery.ts';
import { pointOf } from './second-account.ts';
import { until } from './until.ts';

const GUARDIAN_KEY = `0x${'47'.repeat(32)}` as const;
const WORK_MS = 250;
const WAIT_MS = 150_000;
const LOOK_MS = 100;

/** The world of the payment page, with a mail server, a registrar, and a guardian. */
export interface PhoneWorld extends PayWorld {
  readonly mail: MailCatcher;
}

/** What a phone stores, and its authenticator; closing it loses both. */
export interface Phone {
  readonly context: BrowserContext;
  readonly passkeys: Passkeys;
  /** Another page of it, at the account page. */
  open(hash?: string): Promise<Device>;
  /** Its page of the shop's, which stays open. */
  shop(): Promise<Page>;
}

/** What an app's sign-up has the vault record. */
export interface Identity {
  readonly did: string;
  readonly credentialId: string;
  readonly txHash: string;
}

/** Starts it all; the vault's background work goes on by itself. */
export async function startPhoneWorld(): Promise<PhoneWorld> {
  const mail = await startMailCatcher();
  const mailer = smtpMailer(mail.url);
  const world = await startPayWorld({
    pagesOnly: true,
    mail: mailer,
    more: {
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: mail.url,
      EMAIL_FROM: 'Vault <vault@example.com>',
      GUARDIAN_PRIVATE_KEY: GUARDIAN_KEY,
      REGISTRAR_DID,
      REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
      FINALITY_BLOCKS: '2',
      // All the people share this machine's address.
      MAX_VERIFY_SENDS_PER_IP: '1000',
      MAX_REGISTRATIONS_PER_IP: '1000',
    },
  });
  await world.fund(addressOf(GUARDIAN_KEY), { wei: 10n ** 18n });
  const endWork = keepWorking(world.t, WORK_MS);
  return {
    ...world,
    mail,
    async stop() {
      await endWork();
      await world.stop();
      await mailer.close();
      await mail.stop();
    },
  };
}

/** A new phone: nothing is stored on it; passkeys that are synced to it are there. */
export async function openPhone(world: PhoneWorld, passkeys = createPasskeys()): Promise<Phone> {
  const context = await world.own.browser.createBrowserContext();
  let shop: Promise<Page> | undefined;
  const openAtShop = async () => {
    const page = await openShop({ ...world, context });
    // A popup opens, in a browser with a sheet of its own too.
    await page.evaluate('delete window.PaymentRequest');
    await passkeys.attach(page);
    return page;
  };
  return {
    context,
    passkeys,
    open: (hash = '') => openDevice(world, { hash, passkeys, context }),
    shop() {
      shop ??= openAtShop();
      return shop;
    },
  };
}

/** Waits by looks that move the chain or its time: so they are few. */
export function untilMoved<T>(what: string, look: () => Promise<T>) {
  return until(what, look, WAIT_MS, LOOK_MS);
}

/** The code in the next mail that brings one to the address. */
export async function codeFrom({ mail }: PhoneWorld, email: string): Promise<string> {
  const isCode = ({ to, subject }: Mail) => to.includes(email) && /\byour code\b/i.test(subject);
  const [code] = /\b\d{6}\b/.exec((await mail.waitFor(isCode, WAIT_MS)).text) ?? [];
  if (code === undefined) throw new Error('a mail without a code');
  return code;
}

/** The mails about a recovery that came to the address, oldest first. */
export function noticesTo({ mail }: PhoneWorld, email: string): Mail[] {
  return mail.messages.filter(({ to, text }) => to.includes(email) && text.includes('/account?lang=en#stop='));
}

/** Proves an address on the account page. */
export function proveAt(world: PhoneWorld, here: Device, email: string): Promise<void> {
  return proveAddress(here, email, (to) => codeFrom(world, to));
}

/** Removes a key by its name. */
export async function removeKey(device: Device, name: string): Promise<void> {
  await pressNamed(device.page, `Change ${name}`);
  await press(device.page, 'remove');
  await device.screen('confirm');
  await confirm(device);
  await device.screen('home');
}

/**
 * Signs up at an app on the shop's origin with the phone's only passkey: code, attestation, proof. Without `known` the
 * vault registers the DID itself; with it this passkey joins the identity.
 */
export async function signUp(
  world: PhoneWorld,
  { passkeys, shop }: Phone,
  who: { readonly email: string; readonly account: Hex.Hex; readonly known?: Identity },
): Promise<Identity> {
  const page = await shop();
  const call = (line: string, fields?: unknown) => callFrom(page, world.origin, line, fields);
  const { email: identifier, account: smartAccount, known } = who;
  const sent = { identifier, channel: 'email' };
  await call('POST /api/verify/send', sent);
  const code = await codeFrom(world, identifier);
  const { attestation } = await call('POST /api/verify/check', { ...sent, code });
  const contracts = await call('GET /api/contracts');
  const did = known?.did ?? `did:pkh:eip155:${contracts.chainId}:${smartAccount}`;
  const [credentialId = ''] = passkeys.ids();
  const proofExpiresAt = Math.floor((Date.now() + world.shift()) / 1000) + 540;
  const challenge = registrationChallenge({
    registrarDidHash: didHash(contracts.registrar),
    chainId: contracts.chainId,
    registry: contracts.didRegistry,
    didHash: didHash(did),
    aliasHash: NO_HASH,
    smartAccount,
    credentialId,
    identifierHash: identifierHash(parseIdentifier('email', identifier), attestation.signature),
    expiresAt: proofExpiresAt,
  });
  const proof = await assertAt(page, credentialId, challenge);
  const [x, y] = pointOf(passkeys.key()).map((one) => `0x${one.toString(16)}`);
  const claim = {
    ...sent,
    credentialId,
    did,
    smartAccount,
    attestation,
    proof,
    proofExpiresAt,
    pubKeyX: x,
    pubKeyY: y,
  };
  const { txHash } = await call('POST /api/dids', known ? { ...claim, txHash: known.txHash } : claim);
  return { did, credentialId, txHash };
}

/** Calls the vault as a page of another origin does. Throws what it refuses. */
async function callFrom(page: Page, origin: string, line: string, fields?: unknown) {
  const [method = 'GET', path = '/'] = line.split(' ');
  const [status, text] = await page.evaluate(
    async (url, how, body) => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(url, how === 'GET' ? {} : { method: how, headers, body });
      return [response.status, await response.text()] as const;
    },
    origin + path,
    method,
    JSON.stringify(fields ?? {}),
  );
  if (status >= 300) throw new Error(`${line}: ${status} ${text}`);
  return JSON.parse(text);
}

/** Has the passkey sign a challenge on a page of the vault's RP ID, as any app does. */
function assertAt(page: Page, credentialId: string, challenge: Uint8Array) {
  return page.evaluate(
    async (id, bytes) => {
      const decode = (text: string) =>
        Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
      const encode = (buffer: ArrayBuffer) =>
        btoa(String.fromCharCode(...new Uint8Array(buffer)))
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replace(/=+$/, '');
      const got = await navigator.credentials.get({
        publicKey: {
          rpId: 'localhost',
          challenge: Uint8Array.from(bytes),
          allowCredentials: [{ type: 'public-key', id: decode(id) }],
          userVerification: 'required',
        },
      });
      const { response } = got as PublicKeyCredential & { response: AuthenticatorAssertionResponse };
      return {
        authenticatorData: encode(response.authenticatorData),
        clientDataJSON: encode(response.clientDataJSON),
        signature: encode(response.signature),
      };
    },
    credentialId,
    Array.from(challenge),
  );
}

let payees = 0x1057000;

/** Buys at the shop with the phone, up to the payment window. */
export async function goBuying(world: PhoneWorld, phone: Phone) {
  const to = `0x${(payees++).toString(16).padStart(40, '0')}`;
  const movement = { to, amount: '1000000000000000', token: 'native', chainId: 84532 };
  const shop = await phone.shop();
  await clickToPay(shop, world.origin, { id: to, ...movement, total: { currency: 'ETH', value: '0.001' } });
  const page = await confirmWindow(world, phone.passkeys);
  return { page, told: () => shop.evaluate('paid'), received: () => world.balanceOf(to, 'native') };
}

/** Who controls a DID in the registry. */
export async function controllerOf({ chain, contracts }: PhoneWorld, did: string): Promise<string> {
  const data = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'resolve'), [didHash(did)]);
  const answer = String(await chain.rpc('eth_call', [{ to: contracts.didRegistry, data }, 'latest']));
  return `0x${answer.slice(26, 66)}`;
}
