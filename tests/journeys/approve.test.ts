import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { approvalAnswer, approvalDigest } from '../../client/approval-answer.ts';
import { secondsOf } from '../../client/approval-terms.ts';
import { type ApprovalAnswer, verifyApproval } from '../../client/approvals.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { factoryDataOf } from '../../client/wallet/operation.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { type AppWorld, signUp, startAppWorld } from '../support/client-app.ts';
import { temporaryFolder } from '../support/databases.ts';
import { awaitSelector, confirmWindow, part, press } from '../support/pay.ts';

const ROOT = join(import.meta.dir, '../..');
const TEXT = 'Pay out 250.00 EUR to Bob Example.\nPayout 17';

describe.skipIf(!chromium)('approvals in Chromium', () => {
  let world: AppWorld;
  beforeAll(async () => {
    const more = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey, MAX_REGISTRATIONS_PER_IP: '100' };
    world = await startAppWorld(more, { pagesOnly: true, relayOnly: true });
    world.put('/plain', await Bun.file(join(ROOT, 'examples/apps/plain.html')).text());
    world.put('/app', '<!doctype html><title>App</title><button id="ask">Ask</button>');
  });
  afterAll(() => world.stop());
  afterEach(() => world.closePages());

  let people = 0;
  /** Somebody who has signed up at the app, and is on its page; what an app knows of them. */
  async function person() {
    const { page, passkeys } = await world.open('/plain');
    const did = await signUp(world, page, `approver${people++}@example.com`);
    const [credentialId = ''] = passkeys.ids();
    const { body } = await world.t.call('GET /api/dids/lookup', { credentialId });
    const { pubKeyX, pubKeyY } = body as { pubKeyX: string; pubKeyY: string };
    await page.goto(`${world.shop}/app`);
    return { page, passkeys, did, account: did.slice(-42), credentialId, pubKeyX, pubKeyY };
  }
  const requestOf = (more: object = {}) => {
    return { id: `payout-${crypto.randomUUID()}`, text: TEXT, expires: inMinutes(5), ...more };
  };
  /** Has the app ask by its client when its button is pressed; the answer, or the word of its error. */
  async function ask(page: Page, request: object, options: object = {}): Promise<ApprovalAnswer | string> {
    const told = page.evaluate(
      `${world.client}.then((vault) => new Promise((resolve) => {
        document.querySelector('#ask').onclick = () =>
          vault.approve(${JSON.stringify(request)}, ${JSON.stringify(options)})
            .then(resolve, (error) => resolve(error.error ?? error.message));
        document.body.dataset.ready = 'yes';
      }))`,
    ) as Promise<ApprovalAnswer | string>;
    // A link leaves the page.
    const heard = told.catch(() => 'left');
    await page.waitForSelector('body[data-ready]');
    await page.click('#ask');
    return heard;
  }
  /** Waits until the page is elsewhere. */
  const elsewhere = (page: Page, act: () => Promise<unknown>) => Promise.all([page.waitForNavigation(), act()]);
  const question = (request: { id: string; text: string; expires: string }, account: string) => {
    const { id, text, expires } = request;
    return { vault: world.origin, app: new URL(world.shop).origin, chainId: 84532, id, text, expires, account };
  };

  test('the documented payout is paid once its owner has approved it, and never twice', async () => {
    const owner = await person();
    const { server, home } = await startPayouts(world, owner);
    await owner.page.goto(home);
    const answers: string[] = [];
    owner.page.on('request', (sent) => sent.url().endsWith('/approved') && answers.push(sent.postData() ?? ''));
    await owner.page.waitForFunction('document.querySelector("#pay").onclick');
    await owner.page.click('#pay');
    const page = await confirmWindow(world, owner.passkeys);
    expect(await part(page, 'setup')).toContain('Which account approves?');
    await press(page, 'find');
    const shown = await part(page, 'review');
    const host = new URL(home).host;
    for (const said of [`Requested by http://${host}`, 'Pay out 250.00 EUR to Bob Example.', owner.account])
      expect(shown.replace(/\s+/g, ' ')).toContain(said);
    expect(shown).toContain(`Approve for ${host}`);
    await press(page, 'approve');
    await owner.page.waitForFunction('document.querySelector("#says").textContent === "Paid out"');
    const again = await fetch(`${home}/approved`, { method: 'POST', body: answers[0] as string });
    expect(await again.json()).toEqual({ says: 'Paid out before' });
    const forged = { ...JSON.parse(answers[0] as string), signature: '0x00' };
    const other = await fetch(`${home}/approved`, { method: 'POST', body: JSON.stringify(forged) });
    expect(await other.json()).toEqual({ says: 'Refused: other_terms' });
    await server.stop(true);
  });

  test('an answer counts for its text, app, end, account and key alone, by the key and by the node', async () => {
    const bob = await person();
    const request = requestOf();
    const hint = { person: { credentialId: bob.credentialId, account: bob.account, ...keyOf(bob) } };
    const told = ask(bob.page, request, hint);
    const page = await confirmWindow(world, bob.passkeys);
    // One prompt: the app has named the person, whom this device did not know.
    expect(await part(page, 'review')).toContain('Payout 17');
    await press(page, 'approve');
    const answer = (await told) as ApprovalAnswer;
    expect(answer).toMatchObject({ account: bob.account, did: bob.did, id: request.id, ...keyOf(bob) });
    const right = question(request, bob.account);
    const approved = { status: 'approved', account: bob.account, did: bob.did, id: request.id } as const;
    for (const known of [keyOf(bob), world.chain.url])
      expect(await verifyApproval(answer, right, known)).toMatchObject(approved);
    for (const other of [
      { text: TEXT.replace('250', '251') },
      { app: 'https://evil.example' },
      { expires: inMinutes(9) },
      { id: 'payout-18' },
      { vault: 'https://evil.example' },
    ])
      for (const known of [keyOf(bob), world.chain.url])
        expect(await verifyApproval(answer, { ...right, ...other }, known)).toEqual({
          status: 'refused',
          reason: 'other_terms',
        });
  });

  test('an app’s own page that may use the passkeys has an approval signed, which does not count', async () => {
    // Every page of localhost is one of the RP ID here: it asks the passkey for the digest itself, and shows nothing.
    const bob = await person();
    const request = requestOf();
    const asked = question(request, bob.account);
    const key = { x: bob.pubKeyX as Hex, y: bob.pubKeyY as Hex };
    const { accountFactory2: factory = '0x' } = world.contracts;
    const creation = { factory, factoryData: factoryDataOf(key.x, key.y) };
    const about = { kind: 2, address: bob.account, chainId: 84532, index: 0 } as const;
    const approver = { ...about, creation, credentialId: bob.credentialId, key };
    const terms = {
      vault: asked.vault,
      app: asked.app,
      id: request.id,
      text: TEXT,
      expires: secondsOf(request.expires) ?? 0,
    };
    const made = await bob.page.evaluate(
      async (challenge) => {
        const options = {
          rpId: 'localhost',
          challenge: Uint8Array.from(challenge),
          userVerification: 'required' as const,
        };
        const { response } = (await navigator.credentials.get({ publicKey: options })) as PublicKeyCredential;
        const { authenticatorData, clientDataJSON, signature } = response as AuthenticatorAssertionResponse;
        return [authenticatorData, clientDataJSON, signature].map((buffer) => Array.from(new Uint8Array(buffer)));
      },
      Array.from(approvalDigest(terms, approver)),
    );
    const [authenticatorData, clientDataJSON, der] = made.map((bytes) => Uint8Array.from(bytes)) as [
      Uint8Array<ArrayBuffer>,
      Uint8Array<ArrayBuffer>,
      Uint8Array<ArrayBuffer>,
    ];
    const assertion = { authenticatorData, clientDataJSON, signature: rawSignature(der) };
    const answer = approvalAnswer(terms, approver, assertion);
    for (const known of [keyOf(bob), world.chain.url])
      expect(await verifyApproval(answer, asked, known)).toEqual({ status: 'refused', reason: 'other_page' });
  });

  test('a request cannot be exchanged, is heard from its origin alone, and may be withdrawn', async () => {
    const { page, passkeys, ...bob } = await person();
    const raw = async (origin: string, ...messages: object[]) => {
      const said = page.evaluate(
        `new Promise((resolve) => {
          const said = [];
          document.querySelector('#ask').onclick = () => {
            const popup = open('${world.origin}/approve?mode=popup&origin=${encodeURIComponent(origin)}', 'raw', 'popup');
            window.say = (message) => popup.postMessage({ vault: 'approve', ...message }, '${world.origin}');
            addEventListener('message', ({ data, source }) => {
              if (source !== popup) return;
              said.push(data.reason ?? data.type);
              if (data.type === 'ready') for (const message of ${JSON.stringify(messages)}) window.say(message);
              if (data.type === 'cancel') resolve(said);
            });
          };
        })`,
      );
      // A page that hears nothing gives no answer.
      const told = said.catch(() => undefined);
      await page.click('#ask');
      return { told, popup: await confirmWindow(world, passkeys) };
    };
    const [first, second] = [requestOf({ person: bob }), requestOf({ text: 'Make Mallory an owner', person: bob })];
    const twice = await raw(world.shop, { type: 'request', ...first }, { type: 'request', ...second });
    expect(await part(twice.popup, 'review')).toContain('Payout 17');
    await page.evaluate(`window.say({ type: 'abort' })`);
    expect(await part(twice.popup, 'problem')).toContain('The app withdrew its request');
    await press(twice.popup, 'leave');
    expect(await twice.told).toEqual(['ready', 'aborted']);

    const hidden = await raw(world.shop, { type: 'request', ...requestOf({ text: 'Pay \u202eboB' }) });
    expect(await part(hidden.popup, 'problem')).toContain('characters that do not show as they are');
    await press(hidden.popup, 'leave');
    expect(await hidden.told).toEqual(['ready', 'text_hidden']);

    // The page speaks for another origin: it hears nothing, and nobody hears it.
    const lied = await raw('https://bank.example', { type: 'request', ...first });
    await page.evaluate(`window.say(${JSON.stringify({ type: 'request', ...first })})`);
    expect(await part(lied.popup, 'problem')).toContain('There is nothing to approve here');
  });

  test('by a link, whose maker nobody knows, the answer goes to the origin that is shown', async () => {
    const { page, passkeys, ...bob } = await person();
    const request = requestOf();
    await elsewhere(page, () => ask(page, request, { via: 'link', person: bob }));
    const shown = await part(page, 'review');
    expect(shown).toContain('You followed a link. The approval goes to');
    expect(shown).toContain('nobody vouches for it');
    await elsewhere(page, () => press(page, 'approve'));
    expect(page.url()).toStartWith(`${world.shop}/app`);
    const back = (await page.evaluate(`${world.client}.then((vault) => vault.approved())`)) as ApprovalAnswer;
    expect(await page.evaluate(() => location.hash)).toBe('');
    expect(await verifyApproval(back, question(request, bob.account), keyOf(bob))).toMatchObject({
      status: 'approved',
    });
    await elsewhere(page, () => ask(page, requestOf(), { via: 'link', person: bob }));
    await elsewhere(page, () => press(page, 'cancel'));
    expect(await page.evaluate(`${world.client}.then((vault) => vault.approved())`)).toMatchObject({
      error: 'cancelled',
    });
  });

  test('a browser without passkeys says so before anything is asked, and the app gets the word', async () => {
    const { page } = await world.open('/app');
    await page.evaluateOnNewDocument('delete globalThis.PublicKeyCredential');
    await elsewhere(page, () => ask(page, requestOf(), { via: 'link' }));
    expect(await part(page, 'problem')).toContain('This browser cannot use passkeys here');
    await elsewhere(page, () => press(page, 'leave'));
    expect(await page.evaluate(`${world.client}.then((vault) => vault.approved())`)).toMatchObject({
      error: 'passkeys_unavailable',
    });
  });

  test('what the app says wrongly is a TypeError, and its window closes', async () => {
    const { page } = await world.open('/app');
    expect(await ask(page, requestOf({ text: '{"to":"0x00"}' }))).toContain('approval.text is');
    await page.reload();
    const told = ask(page, requestOf());
    const popup = await confirmWindow(world);
    await awaitSelector(popup, '#find');
    await popup.close();
    expect(await told).toBe('not_approved');
  });
});

function keyOf({ pubKeyX, pubKeyY }: { pubKeyX: string; pubKeyY: string }) {
  return { pubKeyX, pubKeyY };
}

function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** The example of docs/approvals.md, for this vault and owner. */
async function startPayouts(world: AppWorld, owner: Readonly<Record<'account' | 'pubKeyX' | 'pubKeyY', string>>) {
  const folder = temporaryFolder();
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 503 }) });
  const home = `http://localhost:${server.port}`;
  const { account, pubKeyX, pubKeyY } = owner;
  const text = (await Bun.file(join(ROOT, 'examples/apps/payout.mjs')).text())
    .replace("'vault/approvals'", JSON.stringify(join(ROOT, 'client/approvals.ts')))
    .replace('https://vault.example.com', world.origin)
    .replace('https://app.example.com', home)
    .replace(/const owner = .*;/, `const owner = ${JSON.stringify({ account, pubKeyX, pubKeyY })};`);
  const file = join(folder.path, 'payout.mjs');
  await Bun.write(file, text);
  const { default: app } = (await import(file)) as { default: { fetch(request: Request): Promise<Response> } };
  folder.remove();
  server.reload({ fetch: (request) => app.fetch(request) });
  return { server, home };
}
