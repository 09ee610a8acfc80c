import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { type Desk, desk, openConsole } from '../support/console.ts';
import { OPERATOR } from '../support/events.ts';
import { basic, clientsFile, exchange, OPENID_VARS, requestOf } from '../support/openid.ts';
import { startVault } from '../support/vault.ts';

describe.skipIf(!chromium)('what an operator does at the console in Chromium', () => {
  let own: Desk['own'];
  let t: Desk['t'];
  let c: Desk['c'];
  let saved: Desk['saved'];
  const operator = async (vault: Desk['t']) => {
    const row = (n: number) =>
      `('handle:person${n}', 'handle', 'did:key:z${n}', 'h${n}', '', 'c${n}', '', 'submitted', 1, 1, 'default')`;
    await vault.rows(`INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        status, registered_at, unseen_since, app) VALUES ${row(1)}, ${row(2)}`);
    return (await vault.call('POST /v1/console/operators', { name: 'ada', role: 'operator' }, OPERATOR)).body.token;
  };
  desk(
    (opened) => {
      ({ own, t, c, saved } = opened);
    },
    { REGISTRATION: 'invite' },
    operator,
  );

  test('a person is exported and, after a question that says what goes, erased from the drawer', async () => {
    await c.page.evaluate(`location.hash = '/registrations?id=1'`);
    await c.page.waitForSelector('#person-export');
    await c.page.click('#person-export');
    await c.says('#person-answer', /^Saved person-1\.json/);
    const person = JSON.parse(await saved('.json'));
    expect(person).toMatchObject({ format: 'vault-person-1', identifiers: ['handle:person1'] });

    await c.page.click('#person-erase');
    await c.says('#confirm-text', /^What is stored of person1, in rows: .*cannot be undone\.$/);
    await c.page.keyboard.press('Enter');
    await c.says('#person-answer', /Nothing was changed/);
    expect(await t.rows(`SELECT 1 FROM registrations WHERE identifier = 'handle:person1'`)).toHaveLength(1);
    await c.page.click('#person-erase');
    await c.page.waitForSelector('dialog.confirm[open]');
    await c.page.click('dialog.confirm .danger');
    await c.says('#drawer', /Erased\. The audit channel has a record\./);
    expect(await t.rows(`SELECT 1 FROM registrations WHERE identifier = 'handle:person1'`)).toEqual([]);
    const told = await t.rows(`SELECT type, operator FROM events WHERE type GLOB 'person.e*' ORDER BY id`);
    expect(told).toEqual([
      { type: 'person.exported', operator: 'ada' },
      { type: 'person.erased', operator: 'ada' },
    ]);
    await c.page.keyboard.press('Escape');
  });

  test('a person without a registration is erased where the look-up finds none', async () => {
    await t.rows(`INSERT INTO sessions (identifier, did, ip, created_at, expires_at)
        VALUES ('handle:carol', 'did:key:z3', '10.0.0.1', 1, 2)`);
    await c.page.waitForFunction(() => document.querySelector('dialog[open]') === null);
    await c.lookUp('identifier', 'car');
    await c.says('#view-registrations .empty', /Only the whole value is found/);
    await c.page.click('#person-erase');
    await c.says('#person-answer', /^Nothing is stored of this person\.$/);
    await c.lookUp('identifier', 'carol');
    await c.page.click('#person-erase');
    await c.says('#confirm-text', /^What is stored of carol, in rows: 1 removed, 0 kept/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#person-answer', /Erased\. The audit channel has a record\./);
    expect(await t.rows('SELECT 1 FROM sessions')).toEqual([]);
  });

  test('an invite is made, shown once, and revoked', async () => {
    await c.view('invites');
    await c.says('#invites-note', /Who registers needs one/);
    await c.page.click('#invites button');
    await c.says('#invites-answer', /&invite=/);
    await c.says('#invites-list', /Live.*0 of 1.*anybody/);
    await c.page.click('#invites-list [data-part="open"]');
    await c.says('#confirm-title', /^Revoke invite 1\?$/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#invites-list', /Revoked/);
  });

  test('settings that differ stand first, and refusals have their word and route', async () => {
    await c.view('settings');
    await c.says('#state-settings', /^\d+ of \d+ differ/);
    await c.says('#settings-list', /REGISTRATIONinviteopen.*ADDRESS_MOVE_HOURS72/);
    expect(await c.text('#settings-list')).not.toContain(OPERATOR.Authorization.slice(7));
    await t.call('POST /api/verify/send', { identifier: 'nobody', channel: 'email' });
    await c.view('refusals');
    await c.says('#refusals-list', /bad_request1\/api\/verify\/send400: /);
  });

  test('apps of CLIENTS stand with their URIs, their day, why sign-ins were refused, and the keys, for a viewer too', async () => {
    const registrar = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey, RPC_URL: 'http://127.0.0.1:1' };
    const vars = { ...registrar, DID_REGISTRY_ADDRESS: `0x${'1'.repeat(40)}`, ...OPENID_VARS };
    const vault = await startVault(vars, clientsFile());
    await vault.call('GET /jwks');
    await vault.call(`GET /authorize?${requestOf('wiki', { redirect_uri: 'https://wiki.example/' }).query}`);
    for (let i = 0; i < 2; i++) await exchange(vault, requestOf(), 'x'.repeat(43), {}, basic('tea', 'wrong'));
    const { body } = await vault.call('POST /v1/console/operators', { name: 'vic', role: 'viewer' }, OPERATOR);
    const viewer = await openConsole(own.browser, vault.url);
    await viewer.signIn(body.token);
    await viewer.phase('live');
    await viewer.view('apps');
    await viewer.says('#state-apps', /^0 sign-ins and 3 refusals in 24 hours/);
    const { says } = viewer;
    await says('#apps-list', /tea.*0–2 × invalid_client, at \/tokenwith a secret, PKCEhttps:\/\/tea.example\/back/);
    await says('#apps-list', /wiki.*0–1 × redirect_uri_unknown, at its linkwith a secret, PKCE optional/);
    await says('#apps-list', /page.*0–0public, PKCEhttp:\/\/localhost:4001\/Keys of ID tokens.*signs.*the next one/);
    await viewer.page.setViewport({ width: 360, height: 760 });
    expect(await viewer.page.evaluate('innerWidth - document.documentElement.scrollWidth')).toBe(0);
    const isInside = await viewer.page.$eval('#apps-list', (list) => list.scrollWidth <= list.clientWidth);
    expect([isInside, viewer.faults]).toEqual([true, []]);
    await viewer.page.close();
    await vault.stop();
  });

  test('without CLIENTS the view of apps says so', async () => {
    await c.view('apps');
    await c.says('#apps-list', /^No app signs people in here: CLIENTS is not set\.$/);
  });

  test('a viewer is offered nothing that their role does not allow', async () => {
    const { body } = await t.call('POST /v1/console/operators', { name: 'vic', role: 'viewer' }, OPERATOR);
    await t.rows(`INSERT INTO recoveries (chain_id, account, key_x, key_y, label, commitment, status, read_block,
        created_at) VALUES (84532, '0x1111111111111111111111111111111111111111', '1', '2', '', '0x3', 'proposed', 1, 1)`);
    await c.page.click('#sign-out');
    await c.signIn(body.token);
    await c.phase('live');
    const isSeen = (at: string) => c.page.$eval(at, (one) => one.checkVisibility());
    await c.page.evaluate(`location.hash = '/registrations?id=2'`);
    // The look-up that found nobody has a `#person-erase` too: only the drawer has `#undo`.
    await c.page.waitForSelector('#undo');
    for (const at of ['#person-erase', '#undo', '#registrations-export', '#registrations-lookup'])
      expect([at, await isSeen(at)]).toEqual([at, false]);
    await c.page.keyboard.press('Escape');
    await c.view('recoveries');
    await c.says('#recoveries-list', /0x1111/);
    expect(await isSeen('#recoveries-list button')).toBe(false);
    await c.view('invites');
    await c.says('#invites-list', /Invite 1.*Revoked/);
    expect(await isSeen('#invites')).toBe(false);
    await c.view('tokens');
    await c.says('#keys-facts', /signs tokens/);
    expect(await c.text('#tokens-list')).not.toContain('Revoke');
    expect(await isSeen('#revoke')).toBe(false);
    await c.view('limits');
    expect(await isSeen('#limits')).toBe(false);
    await c.view('doctor');
    await c.page.waitForSelector('#doctor-send');
    for (const at of ['#doctor-send', '[href="#/webhooks"]', '[href="#/operators"]'])
      expect([at, await isSeen(at)]).toEqual([at, false]);
  });

  test('root alone adds an operator, whose token is shown once and signs in, lists and revokes them', async () => {
    await c.page.click('#sign-out');
    await c.signIn(OPERATOR.Authorization.slice(7));
    await c.phase('live');
    await c.view('operators');
    await c.says('#operators-list', /Revoke adaoperatorLive.*Revoke vicviewerLive/);
    await c.page.type('#operators-name', 'bob');
    await c.page.select('#operators-role', 'operator');
    await c.page.click('#operators [type="submit"]');
    await c.says('#operators-answer', /The token of bob, shown this once/);
    await c.page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await c.page.click('#operators-answer button');
    const token = await c.page.evaluate('copied');
    const by = { Authorization: `Bearer ${token}` };
    expect((await t.call('GET /v1/console/operator', {}, by)).body).toMatchObject({ name: 'bob', role: 'operator' });
    await c.page.type('#operators-name', 'bob');
    await c.page.click('#operators [type="submit"]');
    await c.says('#operators-answer', /A token of this name is still good/);
    await c.page.click('#operators-list tr:nth-child(2) [data-part="open"]');
    await c.says('#confirm-title', /^Revoke the token of bob\?$/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#operators-answer', /Revoked: the token of bob/);
    expect((await t.call('GET /v1/console/operator', {}, by)).status).toBe(401);
    await c.page.click('#operators-all');
    await c.says('#confirm-title', /all operators/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#operators-list', /Nobody but root/);
  });

  test('keys and the tokens that opened a stream stand in one view, each token with Revoke', async () => {
    await c.view('tokens');
    await c.says('#keys-facts', /attestation keys1/);
    await c.says('#keys-facts', /Keys of credentialsNone: the first credential makes one/);
    await t.call('GET /.well-known/jwt-vc-issuer');
    await c.view('apps');
    await c.view('tokens');
    await c.says('#keys-facts', /Keys of credentials.*signs.*the next one/);
    await c.says('#tokens-list', /Revoke zdpu/);
    await c.page.click('#tokens-list [data-part="open"]');
    await c.says('#confirm-text', /opens no stream any more/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#revoke-answer', /^Revoked\./);
  });
});
