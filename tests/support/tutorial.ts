// A reader who has docs/tutorial.md and nothing else: its files are saved and its commands are run as they stand. Only
// the ports are written otherwise, as the reader would where they are taken: others may run this at the same time.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import type { OwnBrowser } from '../../scripts/dev-stack/browser.ts';
import { TUTORIAL_CLIENTS } from '../../scripts/start.ts';
import { temporaryFolder } from './databases.ts';
import type { DevWorld } from './dev-world.ts';
import { otherCode } from './digits.ts';
import { outputUntil } from './output.ts';
import { awaitSelector, createPasskeys } from './pay.ts';

const ROOT = join(import.meta.dir, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8');

/** A block of the tutorial: its language, and the file that the text before it says it is. */
interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

const blocks: readonly Block[] = Array.from(
  DOCUMENT.matchAll(/([^\n]*)\n\n```(\w+)\n([\s\S]*?)^```$/gm),
  ([, before = '', language = '', text = '']) => {
    const file = /save this as `([^`]+)`/i.exec(before)?.[1];
    return { language, file, text };
  },
);

/** The variables of the `npm start` whose tutorial's app is at this port, and their file in this folder. */
export function tutorialVars(appPort: number, folder: string): Record<string, string> {
  const clients = join(folder, 'own-clients.json');
  writeFileSync(clients, JSON.stringify(TUTORIAL_CLIENTS).replace(READERS_APP, `http://localhost:${appPort}`));
  return { CLIENTS: clients, CLIENT_METADATA_HOSTS: 'agent.example' };
}

const READERS_APP = 'http://localhost:3000';

/** The tests of the tutorial, in which the first step, `npm start`, is done: it runs there. */
export function testTutorial(appPort: number, worldOf: () => DevWorld, browserOf: () => OwnBrowser): void {
  const desk = temporaryFolder();
  const app = `http://localhost:${appPort}`;
  const passkeys = createPasskeys();
  let stack: DevWorld['stack'];
  let page: Page;
  let server: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined;
  let did = '';
  let at = 0;

  /** The next block, which is what the tutorial has at this place. */
  const next = (language: string, file?: string): string => {
    const block = blocks[at++];
    expect(block).toMatchObject({ language, file });
    return (block as Block).text
      .replaceAll(READERS_APP, app)
      .replace('listen(3000,', `listen(${appPort},`)
      .replaceAll('http://localhost:8787', stack.vault.replace('127.0.0.1', 'localhost'));
  };
  const save = (language: string, file: string) => writeFileSync(join(desk.path, 'my-app', file), next(language, file));
  const startServer = async () => {
    const command = next('sh').trim();
    // A shell in front would get the Ctrl+C in its place.
    server = Bun.spawn(['sh', '-c', `exec ${command}`], {
      cwd: join(desk.path, 'my-app'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await outputUntil(server.stdout, app);
  };
  const says = async (wanted: string) => {
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
    const isSaid = (text: string) => document.body.innerText.includes(text);
    await page.waitForFunction(isSaid, {}, wanted).catch(async (cause) => {
      throw new Error(`no "${wanted}" in: ${await page.$eval('body', (body) => body.textContent)}`, { cause });
    });
  };

  const newestCode = async () => {
    const mails = (await (await fetch(`${stack.inbox}/messages?to=you@example.com`)).json()) as { text: string }[];
    return /\b\d{6}\b/.exec(mails.at(-1)?.text ?? '')?.[0];
  };

  beforeAll(async () => {
    ({ stack } = worldOf());
    const context = await browserOf().browser.createBrowserContext();
    page = await context.newPage();
    await passkeys.attach(page);
  });
  afterAll(async () => {
    server?.kill('SIGINT');
    await page.browserContext().close();
    desk.remove();
  });

  test('1. a vault starts', async () => {
    expect(next('sh')).toBe('npm start\n');
    const [known = ''] = TUTORIAL_CLIENTS['my-app'].redirect_uris;
    expect(DOCUMENT).toContain(`const redirect_uri = '${known}'`);
    const printed = worldOf().printed();
    expect(printed).toContain('In a browser:');
    expect(printed).toContain(stack.inbox);
    const discovery = await (await fetch(`${stack.vault}/.well-known/openid-configuration`)).json();
    expect(discovery).toMatchObject({ client_id_metadata_document_supported: true });
  });

  test('2. a page signs a person up', async () => {
    const made = Bun.spawnSync(['sh', '-ec', next('sh')], { cwd: desk.path });
    expect(made.exitCode).toBe(0);
    save('html', 'index.html');
    save('js', 'server.mjs');
    await startServer();
    await page.goto(app);
    await page.type('#email', 'you@example.com');
    await page.keyboard.press('Enter');
    await says('We sent you a code.');
    // After five wrong ones another code is on its way, and the page says so.
    for (let guess = 1; guess <= 5; guess++) {
      await page.$eval('#says', (line) => line.replaceChildren());
      await page.type('#code', otherCode(await newestCode()));
      await page.keyboard.press('Enter');
      await says(guess < 5 ? 'Incorrect code' : 'Too many attempts: we sent you another one.');
      await page.$eval('#code', (field) => ((field as HTMLInputElement).value = ''));
    }
    await page.type('#code', (await newestCode()) ?? 'none');
    await page.keyboard.press('Enter');
    await says('did:pkh:eip155:84532:0x');
    await says('is confirmed.');
    did =
      /did:pkh:eip155:84532:0x[0-9a-fA-F]{40}/.exec(await page.$eval('#says', (one) => one.textContent ?? ''))?.[0] ??
      '';
    expect(did).not.toBe('');
    expect(passkeys.rpIds()).toEqual(['localhost']);
  });

  test('3. a server knows who it is, from the vault', async () => {
    server?.kill('SIGINT');
    await server?.exited;
    save('js', 'server.mjs');
    await startServer();
    await page.goto(app);
    await page.click('a');
    await awaitSelector(page, '#sign-in');
    expect(await page.$eval('#sign-in', (button) => button.textContent)).toBe('Sign in with a passkey');
    expect(DOCUMENT).toContain('press **Sign in with a passkey**');
    await page.click('#sign-in');
    await says('You are');
    expect(await page.$eval('body', (body) => body.textContent)).toContain(`You are ${did}, with you@example.com.`);
    expect(page.url()).toBe(`${app}/`);
    // What a browser makes up, or another browser's link, says nothing.
    const forged = await fetch(`${app}/back?code=made-up&state=made-up&iss=${encodeURIComponent(stack.vault)}`);
    expect(forged.status).toBe(400);
    expect(await (await fetch(app)).text()).toContain('Sign up or in');
  });

  test('4. a back end asks', async () => {
    const { stdout } = Bun.spawnSync(['sh', '-c', next('sh')]);
    const shown = JSON.parse(next('json')) as object;
    const answer = JSON.parse(stdout.toString()) as object;
    expect({ ...answer, verifiedAt: '' }).toEqual({ ...shown, verifiedAt: '' });
  });

  test('nothing of it was left out', () => {
    expect(blocks.slice(at)).toEqual([]);
    expect(DOCUMENT.match(/^```\w/gm)).toHaveLength(blocks.length);
  });
}
