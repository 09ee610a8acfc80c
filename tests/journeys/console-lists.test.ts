import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { setWidth, violations } from '../support/axe.ts';
import { type Desk, desk } from '../support/console.ts';
import { writePeople } from '../support/many-people.ts';
import { untilHolds, untilSo } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const ROWS = 400;
const REGISTRY = '0x00000000000000000000000000000000000000aa';
const TX = `0x${'7e'.repeat(32)}`;
const KEY = `0x${'5a'.repeat(64)}`;
const LOOKED_AT = Date.parse('2026-11-23T08:00:00Z');

describe.skipIf(!chromium)('the lists of the console in Chromium', () => {
  let own: Desk['own'];
  let t: Desk['t'];
  let c: Desk['c'];
  let saved: Desk['saved'];
  desk(
    (opened) => {
      ({ own, t, c, saved } = opened);
    },
    { EXPLORER_URL: 'https://explorer.example', APPS: 'shop', DID_REGISTRY_ADDRESS: REGISTRY },
    () => VAULT_SECRET.replace('00', 'ff'),
  );

  const rows = (view: string) => c.page.$$eval(`#view-${view} tbody tr:not([aria-hidden])`, (all) => all.length);
  const address = () => c.page.evaluate('location.hash') as Promise<string>;
  const focused = () => c.page.evaluate(`document.activeElement.closest('tr')?.rowIndex ?? -1`) as Promise<number>;
  const gone = (selector: string) =>
    untilSo(
      () => c.page.$$eval(selector, (all) => all.length),
      (count) => count === 0,
    );
  const press = (key: Parameters<typeof c.page.keyboard.press>[0]) => c.page.keyboard.press(key);

  test('an empty list says how it is filled', async () => {
    await c.view('registrations');
    await c.says('#view-registrations .empty', /^No registration yet\. .*\/authorize/);
    await c.view('sessions');
    await c.says('#view-sessions .empty', /^No session yet\./);
    await writePeople(t.database, ROWS);
    await t.rows(
      `UPDATE registrations SET tx_hash = '${TX}', proof_key = '${KEY}', looked_at = ${LOOKED_AT} WHERE id = ${ROWS - 1}`,
    );
  });

  test('rows come newest first, and the button below says how many more there are', async () => {
    await c.view('registrations');
    await c.says('#state-registrations', /^400 registrations$/);
    expect(await rows('registrations')).toBe(50);
    // Each of the two is wider than a step: somewhere here one would have room and the other not.
    for (let width = 1280; width > 800; width -= 64) {
      await setWidth(c.page, width);
      const tops = await c.page.$$eval('#view-registrations .filters button', (all) => all.map((one) => one.offsetTop));
      expect([width, tops.length, new Set(tops).size]).toEqual([width, 2, 1]);
    }
    await c.page.setViewport({ width: 1280, height: 900 });
    expect(await c.text('#view-registrations tbody tr:nth-child(2)')).toContain('p***@example.com');
    await c.says('#view-registrations .wide', /^350 more$/);
    await c.page.click('#view-registrations .wide');
    await untilSo(
      () => rows('registrations'),
      (count) => count === 150,
    );
    expect(await focused()).toBe(51);
    await c.says('#view-registrations .wide', /^250 more$/);
  });

  test('a filter is in the address, which brings it back; nothing that matches says so', async () => {
    await c.page.select('#registrations-status', 'failed');
    await c.page.select('#registrations-channel', 'email');
    await c.says('#state-registrations', /^13 found$/);
    expect(await address()).toBe('#/registrations?status=failed&channel=email');
    expect(await rows('registrations')).toBe(13);
    await c.view('health');
    await c.page.goBack();
    await c.says('#state-registrations', /^13 found$/);
    expect(await c.page.$eval('#registrations-status', (one) => (one as HTMLSelectElement).value)).toBe('failed');
    await c.page.select('#registrations-status', 'submitted');
    await c.says('#view-registrations .empty', /Nothing matches/);
    await c.page.click('#view-registrations .empty button');
    await c.says('#state-registrations', /^400 registrations$/);
    expect(await address()).toBe('#/registrations');
  });

  test('days of the filter are those of the browser, both included', async () => {
    // The rows are of the first morning of 2024 in UTC, which is the last day of 2023 there.
    await c.page.emulateTimezone('Pacific/Honolulu');
    await c.page.evaluate(`location.hash = '/registrations?from=2024-01-01'`);
    await c.says('#view-registrations .empty', /Nothing matches/);
    await c.page.evaluate(`location.hash = '/registrations?from=2023-12-31&to=2023-12-31'`);
    await c.says('#state-registrations', /^400 found$/);
    await c.page.emulateTimezone('UTC');
    await c.page.evaluate(`location.hash = '/registrations'`);
    await c.says('#state-registrations', /^400 registrations$/);
  });

  test('the arrows walk the rows, Enter opens one, Escape leads back to it', async () => {
    await c.page.focus('#view-registrations [data-part="open"][tabindex="0"]');
    expect(await focused()).toBe(1);
    // Of all rows one alone is reached by Tab.
    expect(await c.page.$$eval('#view-registrations tbody [tabindex="0"]', (all) => all.length)).toBe(2);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp'] as const) await press(key);
    expect(await focused()).toBe(2);
    await press('Enter');
    await c.says('#drawer-title', /^Email p\*\*\*@example\.com$/);
    expect(await address()).toBe(`#/registrations?id=${ROWS - 1}`);
    await press('Escape');
    await untilSo(address, (hash) => hash === '#/registrations');
    expect(await focused()).toBe(2);
    await press('End');
    expect(await focused()).toBe(50);
    await press('Home');
    expect(await focused()).toBe(1);
  });

  test('a row has one menu, which the keyboard opens, walks and leaves', async () => {
    await c.page.focus('#view-registrations tbody tr:nth-child(2) [data-part="open"]');
    await press('Tab');
    await press('Enter');
    const item = () => c.page.evaluate('document.activeElement.textContent');
    expect(await item()).toBe('Open');
    await press('ArrowDown');
    expect(await item()).toBe('Copy DID');
    await press('Escape');
    await gone('.menu');
    expect(await c.page.evaluate('document.activeElement.dataset.part')).toBe('menu');
  });

  test('one has human labels, copies its values, links to the explorer, and is JSON behind a tab', async () => {
    const context = own.browser.defaultBrowserContext();
    await context.overridePermissions(t.url, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
    await c.page.evaluate(`location.hash = '/registrations?id=${ROWS - 1}'`);
    await c.says('#drawer', new RegExp(`Confirmed in block ${ROWS - 1}`));
    const text = await c.text('#drawer-part-0');
    for (const part of ['Base Sepolia (84532)', 'Linked to its DID', 'Codes are kept for a day'])
      expect(text).toContain(part);
    expect(text).not.toMatch(/null|undefined|true|false/);
    // It says so for a moment only: who looks from then on may come too late.
    const said = c.page.waitForFunction(
      `document.querySelector('#drawer [aria-label="Copy Transaction"]').textContent === 'Copied'`,
      { polling: 'mutation' },
    );
    await c.page.click('#drawer [aria-label="Copy Transaction"]');
    await said;
    expect(await c.page.evaluate('navigator.clipboard.readText()')).toBe(TX);
    expect(
      await c.page.$eval('#drawer a[aria-label^="Transaction"]', (one) => [one.getAttribute('href'), one.rel]),
    ).toEqual([`https://explorer.example/tx/${TX}`, 'noopener noreferrer']);
    await c.page.focus('#drawer-tab-0');
    await press('ArrowRight');
    const json = JSON.parse(await c.text('#drawer-part-1 pre'));
    expect([json.registration.id, json.registration.txHash]).toEqual([ROWS - 1, TX]);
    await press('Escape');
    // The page goes back by itself; it would take along an address that is set meanwhile.
    await untilSo(address, (hash) => hash === '#/registrations');
    await c.page.evaluate(`location.hash = '/registrations?id=99999'`);
    await c.says('#drawer', /Nothing found/);
    await c.view('sessions');
    await gone('#drawer[open]');
  });

  test('one shows for each word who signed, which block shows it with its page, and when the vault looked', async () => {
    const evidence = async (id: number) => {
      await c.page.evaluate(`location.hash = '/registrations?id=${id}'`);
      await c.says('#drawer', new RegExp(id % 10 === 0 ? 'reverted' : `Confirmed in block ${id}`));
      return c.page.$$eval('#drawer-part-0 .group:nth-child(2) dl > div', (all) =>
        all.map((one) => [one.querySelector('dt')?.textContent, one.querySelector('dd')?.textContent ?? '']),
      );
    };
    const shown = Object.fromEntries(await evidence(ROWS - 1));
    expect(Object.keys(shown)).toEqual([
      `Confirmed in block ${ROWS - 1}`,
      'Holds its email',
      'Proven by its passkey',
      'Looked at',
    ]);
    expect(shown[`Confirmed in block ${ROWS - 1}`]).toContain(`Block ${ROWS - 1} Explorer`);
    expect(shown[`Confirmed in block ${ROWS - 1}`]).toMatch(/registry 0x/);
    expect(shown['Holds its email']).toBe('The attestation that it was registered with');
    expect(shown['Proven by its passkey']).toContain('Signed by the key 0x5a5a');
    expect(shown['Looked at']).toContain('23 Nov 2026');
    const link = await c.page.$eval('#drawer a[aria-label^="Block"]', (one) => [one.getAttribute('href'), one.rel]);
    expect(link).toEqual([`https://explorer.example/block/${ROWS - 1}`, 'noopener noreferrer']);
    // A handle rests on its alias; one that failed, on no block.
    expect(Object.fromEntries(await evidence(ROWS - 2))['Holds its handle']).toContain('Its alias');
    const failed = await evidence(ROWS - 10);
    expect(failed).toEqual([['Failed: the transaction reverted', "The vault's own record of its transaction"]]);
    await press('Escape');
    await untilSo(address, (hash) => hash === '#/registrations');
  });

  test('one that is followed by another in the address gives way to it', async () => {
    for (const id of [ROWS - 1, ROWS - 2]) {
      await c.page.evaluate(`location.hash = '/registrations?id=${id}'`);
      await c.says('#drawer', new RegExp(`Confirmed in block ${id}`));
    }
    expect(await address()).toBe(`#/registrations?id=${ROWS - 2}`);
    await c.page.goBack();
    await c.says('#drawer', new RegExp(`Confirmed in block ${ROWS - 1}`));
    await press('Escape');
    await untilSo(address, (hash) => hash === '#/registrations');
  });

  test('an identifier that is looked up stays out of the address', async () => {
    await c.view('registrations');
    await c.lookUp('identifier', `person${ROWS - 1}@example.com`);
    await c.says('#view-registrations tbody', new RegExp(`person${ROWS - 1}@example\\.com`));
    expect(await address()).toBe('#/registrations');
    await c.page.click('#registrations-export');
    await press('Enter');
    await c.says('#view-registrations .list-status', /^What was looked up is not exported/);
    await c.lookUp('identifier', 'nobody@example.com');
    await c.says('#view-registrations .empty', /Nothing matches/);
    await c.lookUp('identifier', '@');
    await c.says('#view-registrations .empty', /Invalid identifier/);
  });

  test('a session leads to the registrations of its DID', async () => {
    await c.view('sessions');
    await c.says('#state-sessions', /^400 sessions$/);
    await c.page.click('#view-sessions [data-part="open"]');
    await c.says('#drawer', /Lapses/);
    await c.page.click('#drawer a');
    await untilSo(address, (hash) => hash === `#/registrations?did=${encodeURIComponent(`did:key:z${ROWS}`)}`);
    await gone('#drawer[open]');
  });

  test('the filtered list is saved as a file', async () => {
    await c.page.evaluate(`location.hash = '/sessions?status=open'`);
    await c.says('#state-sessions', /^40 found$/);
    await c.page.click('#sessions-export');
    await press('Enter');
    await c.says('#view-sessions .list-status', /^Saved sessions-.*\.csv\./);
    const lines = (await saved('.csv')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(41);
    expect(lines[0]).toStartWith('createdAt,app,channel,identifier');
  });

  test('axe-core finds nothing wrong with rows, menu and drawer on 360 pixels, light and dark', async () => {
    await c.page.evaluate(`location.hash = '/registrations'`);
    await c.says('#state-registrations', /^400 registrations$/);
    await c.page.setViewport({ width: 360, height: 740 });
    await untilHolds(async () =>
      expect(await c.page.evaluate('[innerWidth, document.documentElement.scrollWidth]')).toEqual([360, 360]),
    );
    // Each costs time and is made as the others are: a dozen have every channel, and one that failed.
    await c.page.$$eval('#view-registrations tbody tr:nth-child(n + 13)', (rest) => {
      for (const row of rest) row.remove();
    });
    await c.page.click('#view-registrations [data-part="menu"]');
    expect(await violations(c.page)).toEqual([]);
    // Each change of the window's size and colours may have taken the focus.
    await c.page.focus('#view-registrations [role="menuitem"]');
    await press('Enter');
    await c.says('#drawer', /On the chain/);
    expect(await violations(c.page)).toEqual([]);
  });

  test('signing out forgets what was typed and shown', async () => {
    await press('Escape');
    await gone('#drawer[open]');
    await c.lookUp('identifier', `person${ROWS - 1}@example.com`);
    await c.page.click('#sign-out');
    await c.page.waitForSelector('html[data-view="sign-in"]');
    expect(await c.page.$eval('#registrations-value', (one) => (one as HTMLInputElement).value)).toBe('');
    expect(await c.text('#view-registrations')).not.toContain('example.com');
    expect(await c.page.$('#drawer[open]')).toBeNull();
  });
});
