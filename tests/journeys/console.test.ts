import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { RECONNECT_WAIT_MS } from '../../assets/console/limits.ts';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type ConsolePage, openConsole } from '../support/console.ts';
import { layLine } from '../support/line.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { untilHolds, untilSo } from '../support/until.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');
const DID = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';

let own: OwnBrowser;
let chain: TestChain;
let t: TestVault;
/** The one window of this file: another costs more than to go elsewhere in it. */
let c: ConsolePage;

/** What all the tests share, from the first one on. */
let shared: Promise<void> | undefined;
const startShared = async () => {
  [own, chain] = await Promise.all([startShell(), startTestChain()]);
  c = await openConsole(own.browser);
};
afterAll(async () => {
  await Promise.all([own?.close(), chain?.stop()]);
});

const startOwn = async (vars: Readonly<Record<string, string>> = {}) => {
  shared ??= startShared();
  await shared;
  t = await startVault({ ...chain.vars, MAX_VERIFY_SENDS_PER_IP: '3', ...vars });
};
const open = async (vars: Readonly<Record<string, string>> = {}) => {
  await startOwn(vars);
  await c.moveTo(t.url);
};
const leave = async () => {
  // What comes of the vault's end is no fault of the page.
  await c.page.goto('about:blank');
  await t.stop();
  expect(c.faults).toEqual([]);
};

const signIn = async () => {
  await c.signIn(OPERATOR_SECRET);
  await c.phase('live');
};
const send = (name: string, ip = `10.1.0.${(name.codePointAt(0) ?? 0) % 250}`) =>
  t.from(ip).call('POST /api/verify/send', { identifier: `${name}@example.com`, channel: 'email' });
const stored = async () =>
  (await t.rows(`SELECT id FROM events WHERE app = 'default' ORDER BY id`)).map((row) => Number(row['id']));
/** The list holds every event of the table, each received once. */
const expectComplete = async (atLeast: number) => {
  const all = await untilSo(stored, (ids) => ids.length >= atLeast);
  // More may have come since, such as the token of the next stream.
  const shown = await untilSo(c.ids, (ids) => ids.length >= all.length);
  expect(shown.slice(0, all.length)).toEqual(all);
  expect(new Set(shown).size).toBe(shown.length);
  await untilSo(
    async () => [await c.received(), (await c.ids()).length],
    ([received, ids]) => received === ids,
  );
};

describe.skipIf(!chromium)('the console in Chromium', () => {
  beforeAll(() => open());
  beforeEach(() => c.moveTo(t.url));
  afterAll(leave);

  test('a wrong secret is told, the right one opens the console, signing out forgets it', async () => {
    expect(await c.text('#secret-help')).toContain('operator.secret');
    await c.signIn('not the secret');
    await c.says('#sign-in-failure', /not the operator secret/);
    expect(await c.page.$eval('#console', (view) => view.checkVisibility())).toBe(false);
    await signIn();
    await c.says('#version', /^\d+\.\d+\.\d+$/);
    await c.says('#state-health', /^Your address as this vault sees it: 127\.0\.0\.1$/);
    expect(c.page.url()).toBe(`${t.url}/console`);
    expect(await c.page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).toBe('[{},{}]');
    await c.page.click('#sign-out');
    await c.phase('idle');
    expect(await c.page.$eval('#secret', (input) => (input as HTMLInputElement).value)).toBe('');
    await c.page.reload();
    await c.page.waitForSelector('html[data-view="sign-in"]');
  });

  test('everything is done by keyboard', async () => {
    const { keyboard } = c.page;
    const focused = () => c.page.evaluate('document.activeElement.id');
    await c.moveTo(t.url);
    expect(await focused()).toBe('secret');
    await keyboard.type(OPERATOR_SECRET);
    await keyboard.press('Enter');
    await c.phase('live');
    await t.call('POST /api/sessions', { handle: 'bob', did: DID });
    await send('alice');
    await c.says('#events', /session\.created/);
    await keyboard.press('/');
    expect(await focused()).toBe('filter');
    await keyboard.type('session bob');
    await c.says('#events-empty', /No event matches/);
    await c.page.$eval('#filter', (input) => Object.assign(input, { value: '' }));
    await keyboard.type('session.created');
    await untilSo(c.ids, (ids) => ids.length === 1);
    await keyboard.press('Escape');
    await keyboard.press('p');
    await c.says('#pause', /Resume/);
    await send('carol');
    await c.says('#state-events', /1 since the pause/);
    await keyboard.press('p');
    await keyboard.press('l');
    expect(await focused()).toBe('registrations-value');
    await keyboard.type('did:none:1');
    await keyboard.press('Enter');
    await c.says('#view-registrations .empty', /Invalid identifier/);
    await keyboard.press('Escape');
    await keyboard.press('?');
    expect(await c.page.$('#help[open]')).not.toBeNull();
    await keyboard.press('Escape');
    expect(await c.page.$('#help[open]')).toBeNull();
    await keyboard.press('t');
    expect(await c.text('#theme')).toBe('Theme: light');
    // They can be switched off, and stay off (WCAG 2.2, 2.1.4).
    const toggle = () => c.page.$eval('#keys-on', (box) => (box as HTMLElement).click());
    await toggle();
    await keyboard.press('t');
    expect(await c.text('#theme')).toBe('Theme: light');
    expect(await c.page.evaluate(`localStorage.getItem('vault-console-keys')`)).toBe('off');
    await toggle();
    // Tab reaches every control that is shown, and each shows that it has the focus.
    const wanted = await c.page.$$eval(
      'button, input, select, nav a',
      (all) => all.filter((one) => one.checkVisibility()).length,
    );
    await c.page.evaluate('document.activeElement.blur()');
    const reached = new Set<string>();
    // A date has four stops.
    for (let i = 0; i < wanted + 20 && reached.size < wanted; i++) {
      await keyboard.press('Tab');
      const [path, outline] = (await c.page.evaluate(FOCUS)) as [string, string];
      if (path === '') continue;
      reached.add(path);
      expect([path, outline]).not.toEqual([path, 'none']);
    }
    expect(reached.size).toBeGreaterThanOrEqual(wanted);
  });

  test('operators sign in with tokens of their own: the list names them, and a viewer has a stream without audit', async () => {
    const root = { Authorization: `Bearer ${OPERATOR_SECRET}` };
    const add = async (name: string, role: string) => {
      const { body } = await t.call('POST /v1/console/operators', { name, role }, root);
      return body.token as string;
    };
    const [ada, vic] = [await add('ada', 'operator'), await add('vic', 'viewer')];
    await c.signIn(ada);
    await c.phase('live');
    await t.call('POST /v1/console/invites', { uses: 1 }, { Authorization: `Bearer ${ada}` });
    await c.says('#events', /invite\.created.*operator ada/);
    await c.page.click('#sign-out');
    await c.signIn(vic);
    await c.phase('live');
    expect(await c.page.$eval('#sign-out', (button) => (button as HTMLElement).title)).toBe('Signed in as vic, viewer');
    const who = { identifier: 'alice', channel: 'handle', did: DID };
    await t.call('POST /api/sessions', who);
    await c.says('#events', /session\.created/);
    expect(await c.text('#events')).not.toContain('audit');
    await c.view('webhooks');
    await c.says('#webhooks-list', /Your role does not allow that/);
  });
});

describe.skipIf(!chromium)('the console in Chromium, in a tab that stays signed in', () => {
  beforeAll(async () => {
    await open();
    await t.work();
    for (const name of ['a', 'b', 'c']) await send(name);
    await t.clock.advance(60_000);
    await t.work();
    await c.page.click('#keep');
    await signIn();
  });
  beforeEach(async () => {
    await c.atRest();
    await c.view('overview');
  });
  afterAll(leave);

  test('the charts have an axis, a value by pointer and keys, a table, and are there after a reload', async () => {
    await c.says('[data-chart="sends"] .figure', /^3$/);
    expect(await c.text('[data-chart="sends"] .detail')).toBe('in the last hour');
    const texts = await c.page.$$eval('[data-chart="sends"] svg text', (all) => all.map((one) => one.textContent));
    expect(texts.slice(0, 2)).toEqual(['0', '5']);
    expect(texts.slice(2).every((text) => /^\d\d:\d\d$/.test(text ?? ''))).toBe(true);
    // Nobody lived before: the ground has a gap there, and two steps at the end.
    const ground = await c.page.$eval('[data-chart="sends"] .ground', (path) => path.getAttribute('d'));
    expect(ground).toBe('M309.33 100H320');
    await c.page.focus('[data-chart="sends"] .plot');
    await c.page.keyboard.press('ArrowLeft');
    await c.says('[data-chart="sends"] .tip', /^\d\d:\d\d: 3 codes sent$/);
    const valued = await c.page.$eval('[data-chart="sends"] .plot', (plot) => plot.getAttribute('aria-valuetext'));
    expect(valued).toMatch(/: 3 codes sent$/);
    await c.page.keyboard.press('Home');
    await c.says('[data-chart="sends"] .tip', /: no data$/);
    await c.page.keyboard.press('Escape');
    expect(await c.page.$eval('[data-chart="sends"] .tip', (tip) => tip.checkVisibility())).toBe(false);
    await c.page.hover('[data-chart="requests"] .plot');
    await c.says('[data-chart="requests"] .tip', /no data$/);
    await c.page.click('[data-chart="sends"] summary');
    await c.says('[data-chart="sends"] tbody', /3 codes sent.*no data/);
    await c.page.click('[data-range="day"]');
    await c.says('[data-chart="sends"] .detail', /^in the last 24 hours$/);
    await c.page.reload();
    await c.phase('live');
    await c.says('[data-chart="sends"] .figure', /^3$/);
    expect(await c.text('[data-chart="sends"] .detail')).toBe('in the last 24 hours');
    expect(await c.page.evaluate('location.hash')).toBe('#/overview?range=day');
  });

  test('the numbers of an axis are whole, however long they are', async () => {
    const { identifier } = await c.page.evaluateOnNewDocument(() => {
      const { fetch: ask } = window;
      const answered = async (input: RequestInfo | URL, init?: RequestInit) => {
        const answer = await ask(input, init);
        if (!String(input instanceof Request ? input.url : input).includes('/v1/console/history')) return answer;
        const history = await answer.json();
        const last = history.points.at(-1);
        Object.assign(last, { requests: 1_900_000, sends: 19_000, p50_ms: 90, p95_ms: 190 });
        return Response.json(history);
      };
      Object.assign(window, { fetch: answered });
    });
    for (const width of [360, 1280]) {
      await c.page.setViewport({ width, height: 800 });
      await c.page.reload();
      await c.phase('live');
      await c.says('[data-chart="latency"] svg', /200 ms/);
      const cut = await c.page.$$eval('[data-chart] svg', (all) =>
        all.flatMap((svg) => {
          const { left, right } = svg.getBoundingClientRect();
          const isOutside = (box: DOMRect) => box.left < left - 0.5 || box.right > right + 0.5;
          return Array.from(svg.querySelectorAll('text'))
            .filter((text) => isOutside(text.getBoundingClientRect()))
            .map(({ textContent }) => textContent);
        }),
      );
      expect([width, cut]).toEqual([width, []]);
    }
    await c.page.removeScriptToEvaluateOnNewDocument(identifier);
  });

  test('each view has an address that a reload, a link and the way back keep, and its heading gets the focus', async () => {
    const shown = () =>
      c.page.evaluate(`[...document.querySelectorAll('#console > section')]
          .filter((one) => one.checkVisibility()).map((one) => one.id).join()`);
    const now = async () => [await shown(), await c.page.title(), await c.page.evaluate('location.hash')];
    const names = await c.page.$$eval('#views a', (all) => all.map((one) => one.hash.slice(2)));
    expect(names.length).toBeGreaterThan(8);
    expect(await shown()).toBe(`view-${names[0]}`);
    await c.page.setViewport({ width: 360, height: 640 });
    for (const name of names) {
      await c.view(name);
      expect(await shown()).toBe(`view-${name}`);
      // The focus takes neither the header with the live state nor the page with it.
      expect(await c.page.evaluate('[scrollY, document.querySelector("header").getBoundingClientRect().top]')).toEqual([
        0, 0,
      ]);
    }
    await c.view('limits');
    await c.view('health');
    await c.page.goBack();
    await untilSo(shown, (id) => id === 'view-limits');
    expect(await now()).toEqual(['view-limits', 'Limits · vault console', '#/limits']);
    await c.page.goForward();
    await untilSo(shown, (id) => id === 'view-health');
    await c.page.reload();
    await c.phase('live');
    expect(await now()).toEqual(['view-health', 'Health · vault console', '#/health']);
    expect(await c.page.$eval('#sign-out', (button) => button.checkVisibility())).toBe(true);
    // What no view is called is the first one.
    await c.page.evaluate(`location.hash = '/nonsense'`);
    await untilSo(shown, (id) => id === `view-${names[0]}`);
  });

  test('a tab that stays signed in over a reload does so no more once it has signed out', async () => {
    await c.page.reload();
    await c.phase('live');
    await c.page.click('#sign-out');
    expect(await c.page.evaluate('JSON.stringify({ ...sessionStorage })')).toBe('{}');
    await c.page.reload();
    await c.page.waitForSelector('html[data-view="sign-in"]');
  });
});

describe.skipIf(!chromium)('the console in Chromium, of a vault with other settings', () => {
  beforeAll(async () => {
    const slow = { STREAM_QUEUE_EVENTS_MAX: '1', MAX_VERIFY_SENDS_PER_IP: '100' };
    await open({ ...slow, RPC_URL: 'http://127.0.0.1:1', APPS: 'shop' });
    await signIn();
  });
  afterAll(leave);

  test('what the doctor finds failing is in the rail and on the overview, before anybody opens it', async () => {
    await c.says('#rail a[href="#/doctor"]', /^Doctor[1-9]\d* failing$/);
    await c.says('#summary', /Doctor: .*chain/);
    await c.page.click('#summary a[href="#/doctor"]');
    await c.says('#doctor-found', /chain.*unreachable/);
    const [, count] = /: (\d+) ✗/.exec(await c.text('#state-doctor')) ?? [];
    await c.says('#rail a[href="#/doctor"]', new RegExp(`^Doctor${count} failing$`));
  });

  test('a stream that falls behind is told to rewind, and loses and doubles nothing', async () => {
    const rewound = async () => (await c.phases()).filter((phase) => phase === 'rewinding').length;
    const [before, rewoundBefore] = [await stored(), await rewound()];
    for (let round = 0; round < 5; round++) {
      // Commits of many events at once: more than the queue of one holds.
      await Promise.all(Array.from({ length: 30 }, (_, i) => send(`r${round}x${i}`, `10.4.${round}.${i}`)));
      await t.clock.advance(1_000);
    }
    await expectComplete(before.length + 150);
    expect(await rewound()).toBeGreaterThan(rewoundBefore);
    await c.phase('live');
  });

  test('events of all apps are shown with their app, or those of one', async () => {
    const body = { identifier: 'alice@example.com', channel: 'email' };
    await t.call('POST /api/verify/send', body, { 'X-Vault-App': 'shop' });
    await send('bob');
    await c.says('#events', /defaultauditcode\.sent.*b\*\*\*@example\.com.*shopauditcode\.sent.*a\*\*\*@example\.com/);
    expect(await c.page.$$eval('#app option', (all) => all.map((one) => one.textContent))).toEqual([
      'All apps',
      'default',
      'shop',
    ]);
    await c.page.select('#app', 'shop');
    // The vault's clock is another day's.
    await c.says('#events', /^1 Jan 2025, \d\d:\d\d:\d\dshopauditcode\.sent/);
    await t.call('POST /api/sessions', { handle: 'carol', did: DID }, { 'X-Vault-App': 'shop' });
    await c.says('#events', /session\.created/);
    expect(await c.ids()).toHaveLength(2);
    expect(await c.text('#events')).not.toContain('token.minted');
  });
});

describe.skipIf(!chromium)('the console in Chromium, of a vault without a stream', () => {
  afterEach(leave);

  test('says that the stream is switched off, and works without it', async () => {
    await open({ NEXT_PUBLIC_HYPERAUTH_ENABLE_LIVE: 'false' });
    const asked: string[] = [];
    c.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await c.signIn(OPERATOR_SECRET);
    await c.phase('off');
    await c.says('#stream-state', /live stream off/);
    await c.view('events');
    expect(await c.page.$eval('.off-note', (note) => note.checkVisibility())).toBe(true);
    await send('alice');
    await c.view('overview');
    await c.says('[data-chart="sends"] .figure', /^1$/);
    expect(asked).toContain('/v1/console/overview');
    expect(asked).not.toContain('/v1/console/events');
    expect(asked).not.toContain('/v1/console/token');
  });
});

describe.skipIf(!chromium)('the console in Chromium, after one sign-in', () => {
  beforeAll(async () => {
    await open();
    await signIn();
  });
  beforeEach(async () => {
    await c.atRest();
    await c.view('overview');
  });
  afterAll(leave);

  test('the doctor says what works and what to do, and sends a test message after a second press', async () => {
    await c.view('doctor');
    await c.says('#state-doctor', /^checked at .*: \d+ ✗, \d+ !, \d+ ✓$/);
    await c.says('#doctor-found', /database.*accepts writes/);
    await c.says('#doctor-found', /mail.*codes are printed instead of mailed.*→ set EMAIL_PROVIDER to/);
    await c.page.type('#doctor-to', 'ada@example.com');
    await c.page.click('#doctor-send button');
    await c.says('#doctor-send button', /^Really send to ada@example\.com$/);
    expect(t.entries.some(({ event }) => event === 'notice')).toBe(false);
    await c.page.click('#doctor-send button');
    await c.says('#doctor-sent', /EMAIL_PROVIDER is log: the test message was printed/);
    expect(t.entries.filter(({ event }) => event === 'notice').length).toBe(1);
  });

  test('messages are shown as people get them: by message, language and app', async () => {
    await c.view('messages');
    await c.says('#messages-subject', /^Your code for localhost/);
    await c.says('#messages-count', /^1 segment \(GSM, \d+ units\)$/);
    const mail = async () => {
      const handle = await c.page.waitForSelector('#messages-answer iframe');
      const frame = await handle?.contentFrame();
      const code = await frame?.waitForSelector('.code');
      return code?.evaluate((one) => {
        const { fontSize, backgroundColor } = getComputedStyle(one);
        return [one.textContent, fontSize, backgroundColor, document.documentElement.lang];
      });
    };
    // The mail is there before its styles, which its frame gets once it is loaded.
    const showsMail = (lang: string) =>
      untilHolds(async () => expect(await mail()).toEqual(['042137', '32px', 'rgb(245, 246, 250)', lang]));
    await c.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    await showsMail('en');
    await c.page.select('#messages-lang', 'de');
    await c.says('#messages-subject', /^Ihr Code für/);
    await showsMail('de');
    await c.page.select('#messages-message', 'recovery_started');
    await c.says('#messages-subject', /^Jemand stellt Ihr Konto/);
    await c.says('#messages-answer .empty', /^None/);
    await c.page.setViewport({ width: 360, height: 800 });
    // The whole mail is seen, nothing runs in the frame, and nothing leads out of it.
    await c.page.waitForFunction(() => {
      const frame = document.querySelector<HTMLIFrameElement>('#messages-answer iframe');
      const page = frame?.contentDocument;
      return page?.querySelector('[style]') && frame && frame.clientHeight >= page.documentElement.scrollHeight;
    });
    const frame = await c.page.$eval('#messages-answer iframe', (one) => ({
      sandbox: one.getAttribute('sandbox'),
      links: one.contentDocument?.querySelectorAll('a[href]').length,
    }));
    expect(frame).toEqual({ sandbox: 'allow-same-origin', links: 0 });
  });

  test('a whole registration appears as it happens: in the list, the charts, and the look-up', async () => {
    await signIn();
    const who = { identifier: 'alice@example.com', channel: 'email' };
    await t.call('POST /api/verify/send', who);
    await c.says('#events', /code\.sent/);
    const { body } = await t.call('POST /api/verify/check', { ...who, code: t.codeFor(who.identifier) });
    await t.call('POST /api/sessions', { ...who, did: DID });
    const { txHash } = await chain.register({ did: DID });
    const credentialId = Buffer.alloc(32, 7).toString('base64url');
    const claim = { ...who, did: DID, credentialId, txHash, attestation: body.attestation };
    expect((await t.call('POST /api/dids', claim)).status).toBe(200);
    await c.says('#events', /registration\.submitted/);
    for (let i = 0; i < 5; i++) {
      await t.clock.advance(1_000);
      await t.work();
    }
    await c.says('#events', /registration\.confirmed/);
    for (const type of ['code.verified', 'session.created', 'session.linked'])
      expect(await c.text('#events')).toContain(type);
    expect(await c.text('#events')).not.toContain('alice@example.com');
    expect(await c.text('#events')).toContain('a***@example.com');
    await expectComplete(7);

    await c.says('[data-chart="sends"] .figure', /^1$/);
    await c.says('[data-chart="verifications"] .figure', /^1$/);
    await c.says('[data-chart="registrations"] .figure', /^1$/);
    await c.says('[data-chart="latency"] .figure', /\d m?s/);
    expect(await c.text('[data-part="database"]')).toContain('writable');
    expect(await c.text('[data-part="upstreams"]')).toContain('rpc');

    await c.view('registrations');
    for (const [by, value] of [
      ['identifier', who.identifier],
      ['credentialId', credentialId],
      ['did', DID],
    ] as const) {
      await c.lookUp(by, value);
      await c.says(
        '#view-registrations tbody',
        new RegExp(by === 'identifier' ? who.identifier : 'a\\*\\*\\*@example.com'),
      );
      expect(await c.text('#view-registrations tbody')).toContain('Confirmed in block');
    }
    await c.page.click('#view-registrations [data-part="open"]');
    await c.says('#drawer', new RegExp(txHash));
    await c.page.keyboard.press('Escape');
  });

  test('a limit that is reached shows, is released, and the audit has it', async () => {
    for (const name of ['a', 'b', 'c']) await send(name, '10.9.8.7');
    expect((await send('d', '10.9.8.7')).status).toBe(429);
    await c.view('limits');
    await c.says('#limits-reached', /Codes asked for by an IP address/);
    const isOneLine = (name: HTMLElement) => name.clientHeight < 2 * parseFloat(getComputedStyle(name).lineHeight);
    expect(await c.page.$eval('#limits-reached dt', isOneLine)).toBe(true);
    await c.says('#limits-list', /Codes asked for by an IP address.*10\.9\.8\.7.*3 of 3 – reached/);
    await c.page.click('#limits-list tr.reached button');
    await c.page.keyboard.press('Enter');
    // What has the focus is Cancel, and Escape is no as well.
    await c.says('#confirm-title', /^Reset sends-per-ip\?$/);
    await c.page.keyboard.press('Enter');
    await c.says('#limits-answer', /Nothing was changed/);
    expect(await c.page.evaluate('document.activeElement.id')).toBe('limits-release');
    await c.page.keyboard.press('Enter');
    await c.page.waitForSelector('dialog.confirm[open]');
    await c.page.keyboard.press('Escape');
    await c.page.waitForFunction(() => document.querySelector('dialog.confirm') === null);
    await c.page.keyboard.press('Enter');
    await c.says('#confirm-text', /10\.9\.8\.7.*cannot be undone/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#limits-answer', /Reset: 3/);
    expect((await send('d', '10.9.8.7')).status).toBe(200);
    await c.says('#events', /limit\.cleared/);
  });

  test('guessing is an alarm in Health, and the limit says what ends it', async () => {
    await c.says('[data-part="guessing"]', /none/);
    await send('guessed', '10.1.9.1');
    await t.rows(`INSERT INTO verifications (identifier, wrong_guesses) VALUES ('email:guessed@example.com', 19)`);
    const wrong = { identifier: 'guessed@example.com', channel: 'email', code: 'x' };
    await t.from('10.1.9.1').call('POST /api/verify/check', wrong);
    await c.says('[data-part="guessing"]', /seen.*1 email/s);
    await c.says('#events', /code\.guessing/);
    await c.view('limits');
    await c.says('#limits-list', /Wrong guesses in a row.*20 of 20.*a code verifies/s);
  });

  test('a webhook that was given up is listed, and sent again at a press', async () => {
    await send('alice');
    const [{ id = 0 } = {}] = await t.rows(`SELECT max(id) AS id FROM events WHERE type = 'code.sent'`);
    await t.rows(`INSERT INTO webhook_deliveries (event_id, app, channel, type, at, data, status, attempts, give_up_at, last_error, last_status, created_at, settled_at)
        SELECT id, app, channel, type, at, data, 'dead', 12, at, 'refused', 410, at, at FROM events WHERE id = ${id}`);
    await c.view('webhooks');
    await c.says('#webhooks-list', /code\.sent.*12.*410 Gone/);
    await c.page.click('#webhooks-list button');
    await c.says('#webhooks-answer', new RegExp(`Event ${id} will be sent again`));
    await c.says('#webhooks-list', /^None/);
    await t.clock.advance(1_000);
    await c.says('#events', /webhook\.resent/);
  });

  test('hostile text is shown as text', async () => {
    const nasty = `<img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>\u202e`;
    await t.database.execute({
      sql: `INSERT INTO events (app, channel, type, at, data) VALUES ('default', 'audit', 'code.sent', :at, :data)`,
      args: { at: t.clock.now(), data: JSON.stringify({ identifier: nasty, '<b>name</b>': nasty, channel: null }) },
    });
    await t.clock.advance(1_000);
    await c.says('#events', /<img src=x/);
    expect(await c.text('#events')).toContain('\\u{202e}');
    expect(await c.page.$$('#events img, #events script, #events b b')).toEqual([]);
    expect(await c.page.title()).toBe('Overview · vault console');
    await c.view('registrations');
    await c.lookUp('did', 'did:x:<i>none</i>');
    await c.says('#view-registrations .empty', /Nothing matches/);
    await t.rows(`INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        status, registered_at, unseen_since, app) VALUES ('handle:<i>x</i>', 'handle', '<i>did</i>', '', '', '<i>c</i>',
        '', 'submitted', 1, 1, '<i>app</i>')`);
    const [{ id } = {}] = await t.rows('SELECT max(id) AS id FROM registrations');
    await c.page.evaluate(`location.hash = '/registrations?id=${id}'`);
    await c.says('#drawer', /<i>did<\/i>/);
    await c.says('#view-registrations tbody', /<i>did<\/i>/);
    expect(await c.page.$$('#view-registrations i, #drawer i')).toEqual([]);
    await c.page.keyboard.press('Escape');
  });

  test('a registration is undone by its button, and gives back the identifier', async () => {
    const claim = { handle: 'undone', did: 'did:key:zUndone', credentialId: 'U'.repeat(22).replace(/.$/, 'A') };
    const recorded = await t.call('POST /api/dids', { ...claim, txHash: `0x${'7'.repeat(64)}` });
    expect(recorded.status).toBe(200);
    await c.view('registrations');
    await c.lookUp('did', claim.did);
    await c.says('#view-registrations tbody', /u\*\*\*/);
    await c.page.click('#view-registrations [data-part="open"]');
    await (await c.page.waitForSelector('#undo'))?.click();
    await c.says('#confirm-title', /^Undo registration \d+\?$/);
    await c.page.click('dialog.confirm .danger');
    await c.says('#drawer', /Undone\. Nobody holds the identifier now/);
    await c.says('#drawer', /Failed: the operator undid it/);
    await c.page.keyboard.press('Escape');
    const again = await t.call('GET /api/aliases/check', { alias: 'undone' });
    expect(again.body.available).toBe(true);
  });

  // It leaves a page whose time of day is ahead.
  test('after a sleep of the computer the stream is opened anew, since the old one may be dead', async () => {
    await signIn();
    const own = () => c.page.$eval('#own-token', (button) => (button as HTMLElement).dataset['cid']);
    const before = await own();
    await send('slept');
    await c.page.evaluate('{ const now = Date.now; Date.now = () => now() + 600_000; }');
    await untilSo(own, (cid) => cid !== before);
    await send('woken');
    await expectComplete(3);
    // The token that was still good has been renewed, which is no event.
    expect(await t.rows(`SELECT 1 FROM events WHERE type = 'token.minted'`)).toHaveLength(1);
  });

  test('fits a narrow screen, light and dark', async () => {
    await send('anna');
    await c.says('#events', /code\.sent/);
    await c.page.setViewport({ width: 320, height: 640 });
    await untilHolds(async () =>
      expect(await c.page.evaluate('[innerWidth, document.documentElement.scrollWidth]')).toEqual([320, 320]),
    );
    // The live state and the way out stand beside each other.
    expect(await c.page.$eval('header', ({ clientHeight }) => clientHeight)).toBeLessThan(60);
    const ground = () => c.page.$eval('body', (body) => getComputedStyle(body).backgroundColor);
    await c.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    const light = await ground();
    await c.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    const dark = await ground();
    expect(dark).not.toBe(light);
    await c.page.click('#more');
    await c.page.click('#theme');
    expect(await ground()).toBe(light);
    await c.page.click('#theme');
    await c.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    expect(await ground()).toBe(dark);
  });
});

describe.skipIf(!chromium)('the console in Chromium, on a line that is cut', () => {
  // One sign-in for all: each test leaves one stream that is live, and counts from what there is.
  let line: Awaited<ReturnType<typeof layLine>>;
  let people = 0;
  const tell = (name: string) => send(`${name}${++people}`, `10.5.0.${people}`);
  const cut = async () => {
    line.cut();
    await c.phase('connecting');
  };
  const count = async () => (await stored()).length;
  const minted = async () => (await t.rows(`SELECT 1 FROM events WHERE type = 'token.minted'`)).length;
  let script: string;
  beforeAll(async () => {
    await startOwn();
    line = await layLine(t.url);
    // No token is renewed since a test took minutes: the vault's clock alone ends one.
    const frozen = `{
      const { setTimeout } = window;
      window.setTimeout = (act, ms, ...given) => (ms > 60_000 ? 0 : setTimeout(act, ms, ...given));
    }`;
    ({ identifier: script } = await c.page.evaluateOnNewDocument(frozen));
    for (const name of ['a', 'b', 'c']) await tell(name);
    await t.rows(`DELETE FROM events WHERE id < 3`);
    await c.moveTo(line.url);
    await signIn();
  });
  afterAll(async () => {
    await c.page.removeScriptToEvaluateOnNewDocument(script);
    await leave();
    await line.stop();
  });

  // The first one: of its list alone it is known how it began.
  test('a list that begins with the oldest event kept has no gap', async () => {
    // The sign-in's own two: the use of the secret, and the token of the stream.
    await untilSo(c.ids, (ids) => ids.length === 3);
    expect(await c.ids()).toEqual([3, 4, 5]);
    expect(await c.text('#lost')).toBe('');
  });

  test('an expired token is replaced: the real stream goes on without losing or doubling an event', async () => {
    const before = await count();
    const mintedBefore = await minted();
    const expired = async () => (await c.phases()).filter((phase) => phase === 'expired').length;
    const expiredBefore = await expired();
    for (const round of [1, 2, 3]) {
      await tell('before');
      // All that is open expires; what happens before the page is back is told when it is.
      await t.clock.advance(301_000);
      await tell('after');
      await untilSo(expired, (times) => times === expiredBefore + round);
      await c.phase('live');
      await c.renewed();
    }
    await tell('last');
    await expectComplete(before + 7 + 3);
    expect(await minted()).toBe(mintedBefore + 3);
  });

  test("the browser's own reconnect resumes behind the last event", async () => {
    const before = await count();
    // On a busy machine the page's own try would come first.
    await c.page.evaluate(`{
        const { setTimeout } = window;
        window.ownTimeout = setTimeout;
        window.setTimeout = (act, ms, ...given) => (ms === ${RECONNECT_WAIT_MS} ? 0 : setTimeout(act, ms, ...given));
      }`);
    for (const name of ['a', 'b']) {
      await tell(name);
      await cut();
      await tell(`${name}while`);
      line.mend();
      await c.phase('live');
      await tell(`${name}after`);
    }
    await expectComplete(before + 6);
    expect(await c.phases()).not.toContain('offline');
    await c.page.evaluate('window.setTimeout = ownTimeout');
  });

  test('a long cut is told, and after it the page comes back by itself', async () => {
    const [before, streams] = [await count(), await c.streams()];
    await tell('a');
    line.cut();
    await c.phase('offline');
    expect(await c.text('#stream-note')).toContain('does not answer');
    await c.says('#trouble', /does not answer/);
    // What was green is grey, and says how old it is.
    await c.says('#last-seen', /^Last seen \d+ s ago/);
    const color = (mark: string) =>
      c.page.$eval('[data-part="database"] .state', (one, pseudo) => getComputedStyle(one, pseudo).color, mark);
    await c.view('health');
    await untilHolds(async () =>
      expect(await color('')).toBe(await c.page.$eval('#state-health', (one) => getComputedStyle(one).color)),
    );
    await tell('b');
    line.mend();
    await c.phase('live');
    await tell('c');
    await expectComplete(before + 3);
    await c.says('#trouble', /^$/);
    await c.says('#last-seen', /^$/);
    // Its try for another token, which waits longer each time, is still to come.
    await untilSo(c.streams, (times) => times > streams);
    await c.renewed();
  });

  test('a token that expired meanwhile is replaced', async () => {
    const before = await count();
    await cut();
    await t.clock.advance(301_000);
    await tell('a');
    line.mend();
    await c.phase('live');
    await tell('b');
    await expectComplete(before + 3);
  });

  test('a revoked token ends the stream, the page says so and goes on when asked to', async () => {
    const before = await count();
    await tell('before');
    await expectComplete(before + 1);
    await c.view('tokens');
    await c.page.waitForSelector('#own-token:not([hidden])');
    await c.page.click('#own-token');
    await c.page.click('#revoke button[type="submit"]');
    await c.page.waitForSelector('dialog.confirm[open]');
    await c.page.click('dialog.confirm .danger');
    await c.says('#revoke-answer', /Revoked/);
    await t.clock.advance(1_000);
    await c.phase('revoked');
    expect(await c.text('#stream-state')).toBe('revoked');
    expect(await c.text('#stream-note')).toContain('was revoked');
    await tell('meanwhile');
    await c.page.click('#stream-resume');
    await c.phase('live');
    // The two codes, the end of the one token, and the other token.
    await expectComplete(before + 4);
    expect(await c.text('#events')).toContain('token.revoked');
  });

  test('events that are kept no longer are told as a gap, not waited for', async () => {
    const before = await count();
    await tell('a');
    await expectComplete(before + 1);
    const shown = await c.ids();
    await cut();
    for (const name of ['b', 'c', 'd']) await tell(name);
    const kept = (await stored()).at(-1) ?? 0;
    await t.rows(`DELETE FROM events WHERE id < ${kept}`);
    line.mend();
    await c.says('#lost', /no longer keeps/);
    await tell('e');
    await untilSo(c.ids, (ids) => ids.includes(kept + 1));
    expect(await c.ids()).toEqual([...shown, kept, kept + 1]);
    expect(await c.received()).toBe(shown.length + 2);
  });

  test('another database behind the same address begins a new list', async () => {
    for (const name of ['a', 'b', 'c']) await tell(name);
    const last = (await stored()).at(-1) ?? 0;
    await untilSo(c.ids, (ids) => ids.includes(last));
    await cut();
    await t.rows(`DELETE FROM events`);
    await t.rows(`UPDATE sqlite_sequence SET seq = 1 WHERE name = 'events'`);
    line.mend();
    await c.says('#lost', /another database/);
    await tell('d');
    await untilSo(c.ids, (ids) => ids.length > 0);
    expect(await c.ids()).toEqual([2]);
  });

  test('channels are switched off and on, and a cleared list begins anew', async () => {
    await t.call('POST /api/sessions', { handle: 'bob', did: DID });
    await tell('alice');
    // All but the session is of the channel audit.
    const all = await count();
    expect(all).toBeGreaterThan(1);
    await untilSo(c.ids, (ids) => ids.length === all);
    await c.view('events');
    await c.page.click('#channels label[data-channel="audit"] input');
    await untilSo(c.ids, (ids) => ids.length === 1);
    expect(await c.text('#events')).toContain('session.created');
    await c.page.click('#channels label[data-channel="audit"] input');
    await untilSo(c.ids, (ids) => ids.length === all);
    await c.page.click('#clear');
    await untilSo(c.ids, (ids) => ids.length === 0);
    await tell('bob');
    await untilSo(c.ids, (ids) => ids.length === 1);
  });

  // The last one: it leaves a stream that has ended.
  test('a token that was revoked meanwhile: the refusal is asked about, and told', async () => {
    const cid = await c.page.$eval('#own-token', (button) => (button as HTMLElement).dataset['cid']);
    await cut();
    const bearer = { Authorization: `Bearer ${OPERATOR_SECRET}` };
    expect((await t.call('POST /v1/console/revoke', { cid }, bearer)).status).toBe(200);
    line.mend();
    await c.phase('revoked');
    expect(await c.text('#stream-note')).toContain('was revoked');
  });
});

/** Which control has the focus, and the line it shows around it. */
const FOCUS = `(() => {
  const one = document.activeElement;
  if (!one || !one.matches('button, input, select, nav a')) return ['', ''];
  const all = [...document.querySelectorAll('button, input, select, nav a')];
  return [one.tagName + all.indexOf(one) + ' ' + one.id, getComputedStyle(one).outlineStyle];
})()`;
