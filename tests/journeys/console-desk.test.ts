import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type OwnBrowser, startBrowser } from '../../scripts/dev-stack/browser.ts';
import { type ConsolePage, openConsole, until } from '../support/console.ts';
import { temporaryFolder } from '../support/databases.ts';
import { OPERATOR } from '../support/events.ts';
import { startVault, type TestVault } from '../support/vault.ts';

if (chromium) {
  describe('what an operator does at the console in Chromium', () => {
    let own: OwnBrowser;
    let t: TestVault;
    let c: ConsolePage;
    const downloads = temporaryFolder();
    beforeAll(async () => {
      own = await startBrowser();
      t = await startVault({ REGISTRATION: 'invite' });
      const row = (n: number) =>
        `('handle:person${n}', 'handle', 'did:key:z${n}', 'h${n}', '', 'c${n}', '', 'submitted', 1, 1, 'default')`;
      await t.rows(`INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        status, registered_at, unseen_since, app) VALUES ${row(1)}, ${row(2)}`);
      c = await openConsole(own.browser, t.url);
      const added = await t.call('POST /v1/console/operators', { name: 'ada', role: 'operator' }, OPERATOR);
      await c.signIn(added.body.token);
      await c.phase('live');
    });
    afterAll(async () => {
      expect(c.faults).toEqual([]);
      await own.close();
      await t.stop();
      downloads.remove();
    });

    test('a person is exported and, after a question that says what goes, erased from the drawer', async () => {
      const session = await own.browser.target().createCDPSession();
      await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads.path });
      await c.page.evaluate(`location.hash = '/registrations?id=1'`);
      await c.page.waitForSelector('#person-export');
      await c.page.click('#person-export');
      await c.says('#person-answer', /^Saved person-1\.json/);
      const [name = ''] = await until(
        async () => readdirSync(downloads.path).filter((one) => one.endsWith('.json')),
        (names) => names.length === 1,
      );
      const saved = JSON.parse(readFileSync(join(downloads.path, name), 'utf8'));
      expect(saved).toMatchObject({ format: 'vault-person-1', identifiers: ['handle:person1'] });

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
      await c.says('#settings-list', /REGISTRATIONinvitedefault: open.*ADDRESS_MOVE_HOURS72/);
      expect(await c.text('#settings-list')).not.toContain(OPERATOR.Authorization.slice(7));
      await t.call('POST /api/verify/send', { identifier: 'nobody', channel: 'email' });
      await c.view('refusals');
      await c.says('#refusals-list', /bad_request1\/api\/verify\/send400: /);
    });

    test('a viewer is offered no person and no invite to make', async () => {
      const { body } = await t.call('POST /v1/console/operators', { name: 'vic', role: 'viewer' }, OPERATOR);
      await c.page.click('#sign-out');
      await c.signIn(body.token);
      await c.phase('live');
      await c.page.evaluate(`location.hash = '/registrations?id=2'`);
      await c.page.waitForSelector('#person-erase');
      expect(await c.page.$eval('#person-erase', (button) => button.checkVisibility())).toBe(false);
      await c.page.keyboard.press('Escape');
      await c.view('invites');
      await c.says('#invites-list', /Revoked/);
      expect(await c.page.$eval('#invites', (form) => form.checkVisibility())).toBe(false);
    });
  });
}
