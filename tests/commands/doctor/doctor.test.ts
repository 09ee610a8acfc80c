import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Address, ContractAddress } from 'ox';
import { judgeFileSystem, judgeRoom } from '../../../commands/doctor/disk.ts';
import { fileChecks } from '../../../commands/doctor/files.ts';
import { storageChecks } from '../../../commands/doctor/storage.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { chainChecks } from '../../../lib/doctor/chain.ts';
import { judgeClock } from '../../../lib/doctor/clock.ts';
import { deliveryChecks } from '../../../lib/doctor/delivery.ts';
import { type DoctorCheck, type Finding, ok, runChecks as runChecksBy } from '../../../lib/doctor/finding.ts';
import { networkChecks } from '../../../lib/doctor/network.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { secretMark as markOfSecret } from '../../../lib/key-rotation/key-rotation.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { libsqlProgram, startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import { addressOf, devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { type RelayChain, startRelayChain } from '../../support/candidates.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { examinedOf } from '../../support/doctor.ts';
import { type Liar, startLiar } from '../../support/liar.ts';
import { startProgram } from '../../support/program.ts';
import { deployBoth, nextBlockAt, timeNow } from '../../support/registries.ts';
import { runProgram } from '../../support/run.ts';
import { agreeable, scriptedSmtp } from '../../support/smtp.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const NOWHERE = 'http://127.0.0.1:1';
const SECRETS = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') };
const configOf = (vars: Record<string, string> = {}) => readConfig({ ...SECRETS, RPC_URL: NOWHERE, ...vars });
const runChecks = (checks: readonly DoctorCheck[], timeoutMs?: number) => runChecksBy(systemClock, checks, timeoutMs);
/** `state text` of each finding of a check. */
const told = (findings: readonly Finding[], check: string) =>
  findings.filter(({ name }) => name === check).map(({ state, text }) => `${state} ${text}`);

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());
const at = (name: string) => join(folder.path, name);
const run = (args: readonly string[], vars: Record<string, string> = {}) =>
  runProgram(args, { cwd: folder.path, vars });

/** An HTTP service that answers every path as told. */
function serve(answer: (request: Request) => Response) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

describe('vault doctor', () => {
  test('names every fault of the settings with its remedy, tries nothing else, and ends with 1', async () => {
    const { code, out } = await run(['doctor'], { PORT: 'many', EMAIL_PROVIDER: 'smtp' });
    expect(code).toBe(1);
    expect(out).toContain('✗ settings  PORT must be');
    expect(out).toContain('✗ settings  SMTP_URL must be set when EMAIL_PROVIDER is smtp');
    expect(out).toMatch(/→ for instance smtp:\/\//);
    expect(out).not.toContain('database');
    expect(out).not.toContain('\x1b[');
    const colour = await run(['doctor'], { PORT: 'many', FORCE_COLOR: '1', BASEURL: 'x' });
    expect(colour.out).toContain('BASEURL is not a setting');
    expect(colour.out).toContain('\x1b[31m✗\x1b[39m settings  PORT must be');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('in an empty directory says that nothing is there yet, and counts no setting', async () => {
    const { out } = await run(['doctor'], { LOG_LEVEL: 'warn', RPC_URL: NOWHERE });
    expect(out).toMatch(/✓ settings +2 given, all valid/);
    expect(out).toMatch(/✓ files +there is no DATA_DIR .*vault-data yet: the first start creates it/);
    expect(out).toMatch(/! database +there is no database at .* yet\n +→ the first start creates it/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('a DATA_DIR that cannot be made is ✗, as is a database in a folder that nothing makes', async () => {
    // Nobody makes a folder in /proc, the superuser included.
    const { code, out } = await run(['doctor'], { DATA_DIR: '/proc/nowhere/data', RPC_URL: NOWHERE });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ files +DATA_DIR \/proc\/nowhere\/data cannot be made: ENOENT\n +→ set DATA_DIR to a folder/);
    expect(out).toMatch(/– database +there is no DATA_DIR for it\n/);
    const elsewhere = await run(['doctor'], { DATABASE_URL: 'file:no/such/vault.db', RPC_URL: NOWHERE });
    expect(elsewhere.out).toMatch(/✗ database +there is no folder .*no\/such for it\n +→ make the folder/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('an error is written to the terminal without commands to it', async () => {
    const { err } = await run(['do\x1b]0;owned\x07c']);
    expect(err).toBe('vault: Unknown command do ]0;owned c. Try vault --help.\n');
  });

  test('names every file that is missing, each with what to do', async () => {
    const { code, out } = await run(['doctor'], { SMTP_URL_FILE: 'smtp-url', TWILIO_AUTH_TOKEN_FILE: 'token' });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ settings {2}SMTP_URL_FILE: smtp-url cannot be read \(ENOENT\)\.\n +→ correct it/);
    expect(out).toMatch(/✗ settings {2}TWILIO_AUTH_TOKEN_FILE: token cannot be read \(ENOENT\)\.\n +→ correct it/);
    expect(out).toContain('2 ✗');
  });

  test('makes nothing, sends nothing, and shows no secret', async () => {
    const secret = 'hush-hush-hush';
    const vars = {
      RPC_URL: `${NOWHERE}/${secret}`,
      SMTP_URL: `smtp://u:${secret}@127.0.0.1:1`,
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'a@example.com',
    };
    const { code, out, err } = await run(['doctor'], vars);
    expect(code).toBe(1);
    expect(out + err).not.toContain(secret);
    expect(out).toContain('! database');
    expect(out).toContain('✗ mail');
    expect(existsSync(at('vault-data'))).toBe(false);
  });

  test('looks at a running vault without disturbing it, also for machines', async () => {
    const program = await startProgram({ RPC_URL: NOWHERE }, { cwd: folder.path });
    const { code, out } = await run(['doctor', '--json'], { RPC_URL: NOWHERE });
    expect(code).toBe(1);
    const { ok: isWell, checkedAt, checks } = JSON.parse(out);
    expect(Date.parse(checkedAt)).toBeLessThanOrEqual(Date.now());
    expect(isWell).toBe(false);
    expect(told(checks, 'chain')).toEqual([
      'fail unreachable (ECONNREFUSED)',
      'skipped not checked without this node: contracts, accounts, tokens',
    ]);
    for (const name of ['contracts', 'accounts', 'tokens']) expect(told(checks, name)).toEqual([]);
    expect(told(checks, 'database')).toEqual([expect.stringContaining('intact, journal wal'), 'ok accepts writes']);
    expect(told(checks, 'schema')).toEqual([expect.stringMatching(/^ok version \d+, up to date$/)]);
    const operator = readFileSync(at('vault-data/operator.secret'), 'utf8').trim();
    const inside = await fetch(`${program.url}/v1/console/doctor`, {
      headers: { authorization: `Bearer ${operator}` },
    });
    const seen = (await inside.json()) as { checks: Finding[] };
    expect(told(seen.checks, 'files')).toEqual(told(checks, 'files'));
    expect(told(seen.checks, 'database')).toEqual(['ok accepts writes']);
    expect(told(seen.checks, 'disk')).toEqual([
      expect.stringMatching(/^\w+ \d+ MB free/),
      expect.stringContaining('a durable write takes'),
    ]);
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    await program.stop();
  });

  test('that waits for a check in vain says so after its time', async () => {
    const never = { name: 'bundler' as const, remedy: 'wait', run: () => new Promise<never>(() => {}) };
    const quick = { name: 'mail' as const, remedy: '', run: () => [ok('mail', 'well')] };
    expect(await runChecks([never, quick], 20)).toEqual([
      { name: 'bundler', state: 'fail', text: 'no answer within 0.02 s', remedy: 'wait' },
      { name: 'mail', state: 'ok', text: 'well' },
    ]);
  });
});

describe('the clock', () => {
  test.each([
    [4_999, 'ok'],
    [-5_000, 'warn'],
    [29_999, 'warn'],
    [30_000, 'fail'],
    [-3_600_000, 'fail'],
  ])('%i ms off is %s', (ms, state) => {
    expect(judgeClock(ms).state).toBe(state as Finding['state']);
  });

  test('is compared with the time on the answer of the node', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000).toUTCString();
    const node = serve(() => Response.json({ jsonrpc: '2.0', id: 1, result: '0x1' }, { headers: { date: hourAgo } }));
    const findings = await runChecks(chainChecks(examinedOf(configOf({ RPC_URL: node.url }))));
    expect(told(findings, 'clock')).toEqual([expect.stringMatching(/^fail 360\d s ahead of the node at RPC_URL/)]);
    await node.stop();
  });
});

test('the clock of a server is compared with this one, and the last clean-up where no node says the time', async () => {
  const clockOf = async (aheadMs: number, sinceCleanUpMs: number | undefined, more = {}) => {
    const stored = async () => ({ relaysOfWeek: 0, relayGas: undefined, createdAt: 0, aheadMs, sinceCleanUpMs });
    const findings = await runChecks(chainChecks({ ...examinedOf(configOf(more)), stored }));
    return told(findings, 'clock').slice(1);
  };
  const remote = { DATABASE_URL: NOWHERE };
  expect(await clockOf(60_000, 3_599_999)).toEqual([]);
  expect(await clockOf(60_000, undefined, remote)).toEqual([expect.stringMatching(/^fail 60 s ahead of the database/)]);
  expect(await clockOf(0, 7_200_000, remote)).toEqual([
    'ok agrees with the database',
    'warn the last clean-up is 2 h ago: the next waits until the time is sure',
  ]);
});

describe('the chain', () => {
  let chain: RelayChain;
  let liar: Liar;
  beforeAll(async () => {
    chain = await startRelayChain();
    liar = startLiar({ target: chain.url, seed: 1 });
  });
  afterAll(async () => {
    await liar.stop();
    await chain.stop();
  });
  beforeEach(() => {
    liar.lies.length = 0;
  });
  const check = (vars: Record<string, string> = {}) =>
    runChecks(chainChecks(examinedOf(configOf({ ...chain.vars, ...vars }))));
  const ONLY_OURS = {
    ENTRY_POINT_ADDRESS: 'none',
    ACCOUNT_HELPER_ADDRESS: 'none',
    SESSION_SBT_ADDRESS: 'none',
    USDC_ADDRESS: 'none',
  };

  test('is well when node, contracts and registrar are', async () => {
    await chain.mine();
    const findings = await check(ONLY_OURS);
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(told(findings, 'chain')).toEqual([expect.stringContaining('ok Base Sepolia (84532), block ')]);
    expect(told(findings, 'contracts')).toEqual(['ok 2 of 7 set, all with code']);
    expect(told(findings, 'registrar')).toEqual([
      expect.stringMatching(/^ok 0x.* has .* ether$/),
      "ok the registry is of the second edition: it asks for each passkey's consent",
      'ok may register DIDs for others',
    ]);
  });

  test('says how far the ether of the registrar reaches, at the rate of the last days', async () => {
    const toldOf = async (relaysOfWeek: number, relayGas: number | undefined) => {
      const facts = { relaysOfWeek, relayGas, createdAt: 0, aheadMs: 0, sinceCleanUpMs: 0 };
      const examined = { ...examinedOf(configOf({ ...chain.vars, ...ONLY_OURS })), stored: async () => facts };
      return told(await runChecks(chainChecks(examined)), 'registrar')[0];
    };
    await chain.rpc('anvil_setBalance', [addressOf(devAccount('registrar').privateKey), '0xde0b6b3a7640000']);
    expect(await toldOf(0, undefined)).toMatch(/^ok 0x.* has [\d.]+ ether$/);
    expect(await toldOf(0, 150_000)).toMatch(
      /^ok .*: enough for about \d+ registrations; none was relayed in the last/,
    );
    expect(await toldOf(7, 150_000)).toMatch(/^ok .*, \d{3,} days at the rate of the last 7 days$/);
    expect(await toldOf(1_000_000, 15_000_000)).toMatch(/^warn .*, 0 days at the rate of the last 7 days$/);
  });

  test('says how many looks at registrations are due', async () => {
    const toldOf = async (looks: { changed: number; routine: number } | undefined, vars = {}) => {
      const facts = { relaysOfWeek: 0, relayGas: undefined, createdAt: 0, aheadMs: 0, sinceCleanUpMs: 0, looks };
      const examined = { ...examinedOf(configOf({ ...chain.vars, ...vars })), stored: async () => facts };
      return told(await runChecks(chainChecks(examined)), 'looks');
    };
    const due = 'of the accounts with registrations are due to be looked at again on-chain';
    const many = { changed: 1, routine: 7_200 };
    expect(await toldOf(undefined)).toEqual([expect.stringMatching(/^skipped /)]);
    expect(await toldOf({ changed: 1, routine: 7_199 }, { FOLLOWER: 'false' })).toEqual([`ok 7200 ${due}`]);
    expect(await toldOf(many, { FOLLOWER: 'false' })).toEqual([
      `warn 7201 ${due}, which takes 61 minutes: until then look-ups show an earlier state`,
    ]);
    expect(await toldOf(many, { FOLLOWER: 'false', LOOKS_PER_MINUTE: '240' })).toEqual([`ok 7201 ${due}`]);
    expect(await toldOf(many, { FOLLOWER: 'true' })).toEqual([`ok 1 ${due}`]);
  });

  test('with a guardian: its ether, and whether anybody hears of its recoveries', async () => {
    const { accountFactory2 } = await deployContracts(chain.rpc);
    const key = `0x${'47'.repeat(32)}`;
    const vars = { ...ONLY_OURS, ACCOUNT_FACTORY_2_ADDRESS: accountFactory2, GUARDIAN_PRIVATE_KEY: key };
    const toldOf = async (more = {}) => told(await check({ ...vars, ...more }), 'guardian');
    expect(await toldOf()).toEqual([
      expect.stringMatching(/^fail 0x.* has 0 ether$/),
      expect.stringMatching(/^ok its recoveries are mailed/),
    ]);
    await chain.rpc('anvil_setBalance', [addressOf(key as `0x${string}`), '0xde0b6b3a7640000']);
    expect(await toldOf({ EMAIL_PROVIDER: 'none' })).toEqual([
      expect.stringMatching(/^ok 0x.* has 1 ether$/),
      'fail no notice of a recovery is sent: EMAIL_PROVIDER is none',
    ]);
  });

  test('with former factories: whether there is a contract', async () => {
    const { accountFactory2 } = await deployContracts(chain.rpc);
    const formerOf = async (...factories: string[]) =>
      told(await check({ ...ONLY_OURS, ACCOUNT_FACTORIES_FORMER: factories.join(',') }), 'accounts').filter((text) =>
        text.includes('FORMER'),
      );
    const nowhere = Address.checksum(`0x${'f3'.repeat(20)}`);
    expect(await formerOf(accountFactory2)).toEqual([
      'ok accounts of 1 in ACCOUNT_FACTORIES_FORMER are still read and recovered',
    ]);
    expect(await formerOf(accountFactory2, nowhere)).toEqual([
      `warn there is no contract at ${nowhere} of ACCOUNT_FACTORIES_FORMER`,
    ]);
  });

  test('with a second factory: its code, its implementation and the EntryPoint that its accounts trust', async () => {
    const contracts = await deployContracts(chain.rpc);
    const other = await deployContracts(chain.rpc, { entryPoint: '0.8' });
    const accountsOf = async (factory: string, entryPoint: string = contracts.entryPoint) => {
      const vars = { ...ONLY_OURS, ENTRY_POINT_ADDRESS: entryPoint, ACCOUNT_FACTORY_2_ADDRESS: factory };
      return told(await check(vars), 'accounts').slice(1);
    };
    const offered = `ok the second kind is offered, for the EntryPoint ${contracts.entryPoint}`;
    expect(await accountsOf(contracts.accountFactory2)).toEqual([offered]);
    for (const [factory, entryPoint] of [
      [other.accountFactory2, contracts.entryPoint],
      [contracts.accountFactory2, 'none'],
    ] as const)
      expect(await accountsOf(factory, entryPoint)).toEqual([
        expect.stringMatching(/^fail accounts of ACCOUNT_FACTORY_2_ADDRESS trust the EntryPoint 0x/),
      ]);
    expect(await accountsOf(contracts.accountFactory)).toEqual([expect.stringMatching(/^warn .* other code/)]);
    // The factory's code, whose implementation has none; and the same with another implementation than its first child.
    const copy = `0x${'f2'.repeat(20)}` as const;
    const child = ContractAddress.fromCreate({ from: copy, nonce: 1n });
    const code = (await chain.rpc('eth_getCode', [contracts.accountFactory2, 'latest'])) as string;
    const word = (await chain.rpc('eth_call', [
      { to: contracts.accountFactory2, data: '0x5c60da1b' },
      'latest',
    ])) as string;
    await chain.rpc('anvil_setCode', [copy, code.replaceAll(word.slice(26), child.slice(2).toLowerCase())]);
    expect(await accountsOf(copy)).toEqual(['fail ACCOUNT_FACTORY_2_ADDRESS has no valid implementation']);
    await chain.rpc('anvil_setCode', [copy, code]);
    expect(await accountsOf(copy)).toEqual([expect.stringMatching(/^warn .* other code/)]);
    expect(await accountsOf(`0x${'f3'.repeat(20)}`)).toEqual([]);
    expect(await accountsOf('none')).toEqual([]);
  });

  test('with a second registry that follows the first one: only one that was there before it opened (H2)', async () => {
    const { didRegistry: first } = await deployContracts(chain.rpc, { registry: 1 });
    const { registry2: open, deploy } = await deployBoth(chain.rpc);
    const until = (await timeNow(chain.rpc)) + 100n;
    const nobody = `0x${'0'.repeat(40)}`;
    const registry = await deploy('DIDRegistry2', devAccount('bob').address, nobody, nobody, first, until);
    const toldOf = async (address: string, more = {}) => {
      const findings = told(await check({ ...ONLY_OURS, DID_REGISTRY_ADDRESS: address, ...more }), 'contracts');
      return findings.filter((text) => text.includes('DID_REGISTRY_ADDRESS'));
    };
    const opens = `opens, for names and DIDs of others, at ${new Date(Number(until) * 1000).toISOString()}`;
    const given = { REGISTRY_LEGACY_UNTIL: `${until}` };
    expect(await toldOf(open.address)).toEqual([]);
    expect(await toldOf(registry, given)).toEqual([`ok DID_REGISTRY_ADDRESS ${opens}`]);
    expect(await toldOf(registry)).toEqual([`warn DID_REGISTRY_ADDRESS ${opens}, and REGISTRY_LEGACY_UNTIL is unset`]);
    expect(await toldOf(registry, { REGISTRY_LEGACY_UNTIL: `${until + 1n}` })).toEqual([
      `fail DID_REGISTRY_ADDRESS ${opens}, not at REGISTRY_LEGACY_UNTIL`,
    ]);
    // The same code at another address, that came into being later.
    await nextBlockAt(chain.rpc, until);
    await chain.rpc('evm_mine', []);
    const late = `0x${'1a'.repeat(20)}`;
    await chain.rpc('anvil_setCode', [late, await chain.rpc('eth_getCode', [registry, 'latest'])]);
    await chain.rpc('evm_mine', []);
    expect(await toldOf(late, given)).toEqual(['fail DID_REGISTRY_ADDRESS was deployed after it opened']);
  });

  test('with nothing at 0x100, the precompile, or code that accepts a wrong signature (L10)', async () => {
    const { accountFactory: factory } = await deployContracts(chain.rpc);
    const toldOf = async () => {
      const findings = told(await check({ ...ONLY_OURS, HYPERAUTH_FACTORY_ADDRESS: factory }), 'accounts');
      return findings.filter((text) => /0x100|precompile/.test(text));
    };
    const precompile = '0x0000000000000000000000000000000000000100';
    expect(await toldOf()).toEqual([]);
    const without = await startChain({ hardfork: 'prague' });
    try {
      const vars = { ...ONLY_OURS, RPC_URL: without.url, HYPERAUTH_FACTORY_ADDRESS: factory };
      await deployContracts(without.rpc);
      const toldThere = async () => told(await check(vars), 'accounts').filter((text) => /0x100|precompile/.test(text));
      expect(await toldThere()).toEqual([expect.stringMatching(/^warn the chain has no precompile for P-256/)]);
      await without.rpc('anvil_setCode', [precompile, '0x600160005260206000f3']);
      expect(await toldThere()).toEqual(['fail the code at 0x100 on this chain accepts a wrong P-256 signature']);
    } finally {
      await without.stop();
    }
  });

  test('with an EntryPoint that /pay does not know', async () => {
    await placeUsdc(chain.rpc);
    const toldOf = async (entryPoint: string) => {
      const findings = await check({ ...ONLY_OURS, ENTRY_POINT_ADDRESS: entryPoint });
      return told(findings, 'contracts').filter((text) => text.startsWith('warn'));
    };
    expect(await toldOf(USDC)).toEqual([`warn ENTRY_POINT_ADDRESS ${USDC} is not an EntryPoint 0.7, 0.8 or 0.9`]);
    for (const version of ['0.7', '0.8', '0.9'] as const) expect(await toldOf(ENTRY_POINTS[version])).toEqual([]);
    expect(await toldOf('none')).toEqual([]);
  });

  test('with the first factory: its code, and the EntryPoint that its accounts trust', async () => {
    const contracts = await deployContracts(chain.rpc);
    const other = await deployContracts(chain.rpc, { entryPoint: '0.8' });
    const accountsOf = async (factory: string) => {
      const vars = { ...ONLY_OURS, ENTRY_POINT_ADDRESS: contracts.entryPoint, HYPERAUTH_FACTORY_ADDRESS: factory };
      return told(await check(vars), 'accounts');
    };
    expect(await accountsOf(contracts.accountFactory)).toEqual([
      `ok the first kind is offered, for the EntryPoint ${contracts.entryPoint}`,
    ]);
    expect(await accountsOf(other.accountFactory)).toEqual([
      expect.stringMatching(/^fail accounts of HYPERAUTH_FACTORY_ADDRESS trust the EntryPoint 0x4337/),
    ]);
    expect(await accountsOf(contracts.accountFactory2)).toEqual([expect.stringMatching(/^warn .* other code/)]);
  });

  test('whose node contradicts what is known of a contract', async () => {
    const contracts = await deployContracts(chain.rpc);
    const vars = { ENTRY_POINT_ADDRESS: contracts.entryPoint, USDC_ADDRESS: USDC, RPC_URL: liar.url };
    const found = async () => {
      const findings = await check({ ...ONLY_OURS, ...vars, HYPERAUTH_FACTORY_ADDRESS: contracts.accountFactory });
      return [...told(findings, 'accounts'), ...told(findings, 'tokens')].map((text) => text.slice(0, 54));
    };
    await placeUsdc(chain.rpc);
    expect(await found()).toEqual([
      'ok the first kind is offered, for the EntryPoint 0x000',
      'ok USDC_ADDRESS has 6 decimals',
    ]);
    const told54 = ['fail RPC_URL gives an impossible answer about HYPERAUTH_FACTOR', `fail USDC_ADDRESS ${USDC} ha`];
    const lying = (data: string) =>
      liar.lies.push(({ method, params: [call] }) => {
        const isAsked = method === 'eth_call' && String((call as { data?: string }).data).startsWith(data);
        return isAsked ? { result: `0x${'c'.padStart(64, '0')}` } : undefined;
      });
    lying('0xe81b22ea');
    lying('0x313ce567');
    expect(await found()).toEqual(told54.map((text) => text.slice(0, 54)));
    liar.lies.length = 0;
    liar.lies.push(({ method, params: [of] }) =>
      method === 'eth_getCode' && of === contracts.accountFactory ? { result: '0x5f5ffd' } : undefined,
    );
    expect((await found())[0]).toBe((told54[0] as string).slice(0, 54));
  });

  test('with a second node: its chain, its age and its host', async () => {
    const witnessOf = async (url: string) => told(await check({ ...ONLY_OURS, RPC_WITNESS_URL: url }), 'witness');
    const isSecond = 'ok RPC_WITNESS_URL is a second node of the same chain';
    const at = liar.url.replace('127.0.0.1', 'localhost');
    expect(await witnessOf(at)).toEqual([isSecond]);
    expect(await witnessOf(`${chain.url}/second`.replace(/:\d+/, ':1'))).toEqual(['fail unreachable (ECONNREFUSED)']);
    liar.lies.push(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    expect(await witnessOf(at)).toEqual(['fail RPC_WITNESS_URL is an endpoint of chain 1']);
    liar.lies.length = 0;
    const older = (tag: string, more: object) =>
      liar.lies.push(async ({ method, params }, ask) =>
        method === 'eth_getBlockByNumber' && params[0] === tag
          ? { result: { ...((await ask(method, params)) as object), ...more } }
          : undefined,
      );
    older('0x0', { hash: `0x${'12'.repeat(32)}` });
    expect(await witnessOf(at)).toEqual(['fail RPC_WITNESS_URL has another first block than RPC_URL']);
    liar.lies.length = 0;
    older('latest', { timestamp: '0x1' });
    expect(await witnessOf(at)).toEqual([
      expect.stringMatching(/^warn RPC_WITNESS_URL is \d+ s behind the other node$/),
    ]);
    liar.lies.length = 0;
    const both = { RPC_URL: `${liar.url}/a`, RPC_WITNESS_URL: `${liar.url}/b` };
    expect(told(await check({ ...ONLY_OURS, ...both }), 'witness')).toEqual([
      isSecond,
      'warn is at the same host as RPC_URL',
    ]);
    expect(told(await check(ONLY_OURS), 'witness')).toEqual([]);
  });

  test('that CHAIN_ID does not name is told', async () => {
    const findings = await check({ ...ONLY_OURS, CHAIN_ID: '8453', RPC_URL_8453: '', RPC_URL: chain.url });
    expect(told(findings, 'chain')).toEqual(['fail RPC_URL is an endpoint of chain 84532, but CHAIN_ID is 8453']);
  });

  test('without code at an address, or with a registrar that has neither ether nor leave, is told each', async () => {
    const findings = await check({
      ...ONLY_OURS,
      USDC_ADDRESS: `0x${'12'.repeat(20)}`,
      REGISTRAR_PRIVATE_KEY: '77'.repeat(32),
    });
    expect(told(findings, 'contracts')).toEqual([
      expect.stringMatching(/^fail USDC_ADDRESS: there is no code at 0x12/),
    ]);
    expect(told(findings, 'registrar')).toEqual([
      expect.stringMatching(/^fail 0x.* has 0 ether$/),
      expect.stringMatching(/^ok the registry is of the second edition/),
      'fail may not register DIDs',
    ]);
  });

  test('without any of the contracts is told once, and what needs them is not judged', async () => {
    const addresses = [
      'DID_REGISTRY_ADDRESS',
      'ACCOUNT_HELPER_ADDRESS',
      'SESSION_SBT_ADDRESS',
      'HYPERAUTH_FACTORY_ADDRESS',
      'USDC_ADDRESS',
    ];
    const nowhere = addresses.map((name, i) => [name, `0x${`a${i}`.repeat(20)}`] as const);
    const vars = { ...Object.fromEntries(nowhere), ENTRY_POINT_ADDRESS: 'none', ACCOUNT_FACTORY_2_ADDRESS: 'none' };
    const findings = await check(vars);
    // The tests before have moved the chain's time.
    const failed = findings.filter(({ name, state }) => state === 'fail' && name !== 'clock');
    expect(failed.map(({ name, text }) => `${name} ${text}`)).toEqual([
      `contracts none of the 5 contracts is on chain 84532: ${addresses.join(', ')}`,
    ]);
    // An empty value is the default again.
    expect(failed[0]?.remedy).toEndWith(', or to none');
    expect(told(findings, 'tokens')).toEqual(['skipped there is no contract at USDC_ADDRESS']);
    expect(told(findings, 'registrar')).toEqual([
      expect.stringMatching(/^ok 0x.* has .* ether$/),
      'skipped there is no contract at DID_REGISTRY_ADDRESS',
    ]);
    const some = await check({ ...vars, DID_REGISTRY_ADDRESS: chain.vars['DID_REGISTRY_ADDRESS'] ?? '' });
    expect(told(some, 'contracts')).toEqual([
      `fail there is no code at 4 of 5 contracts: ${addresses.slice(1).join(', ')}`,
    ]);
  });

  test('beside a bundler of another entry point, and an indexer of another chain, is told', async () => {
    const upstream = serve((request) =>
      Response.json(
        request.method === 'GET' ? { ok: true, chain: 1 } : { jsonrpc: '2.0', id: 1, result: [`0x${'34'.repeat(20)}`] },
      ),
    );
    const entryPoint = `0x${'56'.repeat(20)}`;
    const findings = await check({
      ...ONLY_OURS,
      ENTRY_POINT_ADDRESS: entryPoint,
      BUNDLER_URL: upstream.url,
      INDEXER_URL: upstream.url,
    });
    expect(told(findings, 'bundler')).toEqual([expect.stringContaining('fail does not support ENTRY_POINT_ADDRESS')]);
    expect(told(findings, 'indexer')).toEqual(['fail is one of chain 1']);
    const well = await check({ ...ONLY_OURS, ENTRY_POINT_ADDRESS: `0x${'34'.repeat(20)}`, BUNDLER_URL: upstream.url });
    const works = 'ok answers and supports the entry point';
    expect(told(well, 'bundler')).toEqual([works, expect.stringContaining('warn it is on this machine or network')]);
    const vars = { ...ONLY_OURS, ENTRY_POINT_ADDRESS: `0x${'34'.repeat(20)}`, BUNDLER_URL: upstream.url };
    expect(told(await check({ ...vars, BUNDLER_SENDERS: 'own' }), 'bundler')).toEqual([works]);
    await upstream.stop();
  });
});

describe('delivery', () => {
  const SMTP = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@example.com' };
  const check = (vars: Record<string, string>) => runChecks(deliveryChecks(examinedOf(configOf(vars))));

  test('by SMTP is tried up to the credentials, without a mail', async () => {
    const server = scriptedSmtp((line) =>
      line.startsWith('EHLO') ? '250-hello\r\n250 AUTH PLAIN' : line.startsWith('AUTH') ? '235 fine' : agreeable(line),
    );
    const findings = await check({ ...SMTP, SMTP_URL: `smtp://user:password@127.0.0.1:${server.port}` });
    expect(told(findings, 'mail')).toEqual([
      expect.stringContaining('ok the server accepts the connection and the credentials'),
    ]);
    expect(server.heard.some((line) => line.startsWith('AUTH'))).toBe(true);
    expect(server.heard.filter((line) => /^(MAIL|RCPT|DATA)/.test(line))).toEqual([]);
    server.stop();
  });

  test('by SMTP with wrong credentials is told', async () => {
    const server = scriptedSmtp((line) =>
      line.startsWith('EHLO') ? '250-hello\r\n250 AUTH PLAIN' : line.startsWith('AUTH') ? '535 no' : agreeable(line),
    );
    const findings = await check({ ...SMTP, SMTP_URL: `smtp://user:password@127.0.0.1:${server.port}` });
    expect(told(findings, 'mail')).toEqual([expect.stringContaining('fail SMTP: the server refused the credentials')]);
    server.stop();
  });

  test.each([
    [200, '{"data":[]}', 'ok Resend accepts the key; only a real mail'],
    [401, '{"name":"restricted_api_key"}', 'ok Resend accepts the key, which may only send'],
    [401, '{"name":"invalid_api_key"}', 'fail Resend refuses the key (401)'],
    [500, '{}', 'skipped Resend answers 500'],
  ])('by Resend that answers %i %s', async (status, body, words) => {
    const resend = serve(() => new Response(body, { status }));
    const vars = {
      EMAIL_PROVIDER: 'resend',
      EMAIL_FROM: 'a@example.com',
      RESEND_API_KEY: 're_123',
      RESEND_API_URL: resend.url,
    };
    expect(told(await check(vars), 'mail')).toEqual([expect.stringContaining(words)]);
    await resend.stop();
  });

  test.each([
    [200, 'ok Twilio accepts the account and the service'],
    [401, 'fail Twilio refuses the credentials'],
    [404, 'fail the account has no such Verify service'],
    [503, 'fail Twilio answers 503'],
  ])('by Twilio that answers %i', async (status, words) => {
    const asked: string[] = [];
    const twilio = serve((request) => {
      asked.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('authorization')}`);
      return Response.json({}, { status });
    });
    const [account, service] = [`AC${'0'.repeat(32)}`, `VA${'1'.repeat(32)}`];
    const findings = await check({
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: account,
      TWILIO_AUTH_TOKEN: 'token',
      TWILIO_VERIFY_SERVICE_SID: service,
      TWILIO_API_URL: twilio.url,
      SMS_COUNTRIES: '+1',
    });
    expect(told(findings, 'sms')).toEqual([expect.stringContaining(words)]);
    expect(asked).toEqual([`GET /v2/Services/${service} Basic ${btoa(`${account}:token`)}`]);
    await twilio.stop();
  });

  test('by Twilio with a service for recoveries that is gone, which is named', async () => {
    const [service, recovery] = [`VA${'1'.repeat(32)}`, `VA${'2'.repeat(32)}`];
    const twilio = serve((request) => Response.json({}, { status: request.url.endsWith(service) ? 200 : 404 }));
    const findings = await check({
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      TWILIO_AUTH_TOKEN: 'token',
      TWILIO_VERIFY_SERVICE_SID: service,
      TWILIO_VERIFY_SERVICE_SID_RECOVERY: recovery,
      TWILIO_API_URL: twilio.url,
      SMS_COUNTRIES: '+1',
    });
    expect(findings.filter(({ name }) => name === 'sms')).toMatchObject([
      { state: 'ok', text: 'Twilio accepts the account and the service for registration; nothing was sent' },
      { state: 'fail', remedy: 'set TWILIO_VERIFY_SERVICE_SID_RECOVERY to a service of the account' },
    ]);
    await twilio.stop();
  });

  test('by Twilio: a vault that sends to every country is warned, and one that names none does not start', async () => {
    const twilio = serve(() => Response.json({}));
    const vars = {
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      TWILIO_AUTH_TOKEN: 'token',
      TWILIO_VERIFY_SERVICE_SID: `VA${'1'.repeat(32)}`,
      TWILIO_API_URL: twilio.url,
    };
    expect(told(await check({ ...vars, SMS_COUNTRIES: '*' }), 'sms')).toEqual([
      expect.stringContaining('ok'),
      expect.stringContaining('warn SMS go to every country'),
    ]);
    const { out } = await run(['doctor'], { ...vars, RPC_URL: NOWHERE });
    expect(out).toMatch(/✗ settings +SMS_COUNTRIES must be set when SMS_PROVIDER is twilio\n +→ .*\* allows every/);
    await twilio.stop();
  });
});

describe('files, disk and database', () => {
  const GB = 1e9;
  test.each([
    [50 * GB, GB, 3, 'ok', '50000 MB free'],
    [50 * GB, GB, 100, 'ok', '50000 MB free'],
    [50 * GB, 10 * GB, 100, 'ok', '50000 MB free: full in 500 days at the growth until now'],
    [25 * GB, 10 * GB, 10, 'warn', '25000 MB free: full in 25 days at the growth until now'],
    [1.5 * GB, GB, 10, 'warn', '1500 MB free: full in 15 days at the growth until now'],
    [5e7, GB, 0, 'fail', '50 MB free'],
  ])('%d bytes free beside %d of %d days are %s: %s', (free, size, ageDays, state, text) => {
    expect(judgeRoom(free, size, ageDays)).toMatchObject({ state, text });
  });

  test.each([
    [0x6969, 'warn the database is on a network file system (NFS), whose locks and syncs may not hold'],
    [0x01021994, 'fail the database is in memory (tmpfs): a restart loses all'],
    [0x794c7630, "warn the database is in a container's own layer (overlay): it goes with the container"],
    [0xef53, undefined],
  ])('a file system %d', (type, words) => {
    expect(told(judgeFileSystem(type), 'disk')[0]).toBe(words as string);
  });

  test('the disk is shown with its time', async () => {
    const config = configOf({ DATABASE_URL: `file:${at('vault.db')}` });
    const findings = told(await runChecks(storageChecks(config)), 'disk').join('\n');
    expect(findings).toMatch(/a durable write takes (?:[\d.]+|more than 50) ms/);
  });

  test('of the vault are counted without their directory', async () => {
    mkdirSync(at('vault-data'), { mode: 0o700 });
    const found = async () => told(await runChecks(fileChecks(configOf({ DATA_DIR: at('vault-data') }))), 'files')[0];
    expect(await found()).toBe(
      'ok DATA_DIR has no file of the vault, and is closed to other users: the first start fills it',
    );
    writeFileSync(at('vault-data/vault.db'), '', { mode: 0o600 });
    expect(await found()).toBe('ok DATA_DIR and the file of the vault in it are closed to other users');
  });

  test('that others can read, or that somebody left, are named with what to do', async () => {
    await run(['migrate']);
    chmodSync(at('vault-data'), 0o755);
    chmodSync(at('vault-data/operator.secret'), 0o644);
    writeFileSync(at(`vault-data/vault.db.77.${crypto.randomUUID()}`), '');
    const findings = await runChecks(fileChecks(configOf({ DATA_DIR: at('vault-data') })));
    expect(findings.map(({ remedy }) => remedy)).toEqual([
      `chmod 700 ${at('vault-data')}`,
      `chmod 600 ${at('vault-data/operator.secret')}`,
      expect.stringMatching(/^rm .*vault\.db\.77\./),
    ]);
    const { out } = await run(['doctor'], { RPC_URL: NOWHERE });
    expect(out).toMatch(/! settings +vault-data\/operator\.secret can be read by other users\n +→ chmod 600/);
  });

  test('is told to be used with another secret than before', async () => {
    const facts = { relaysOfWeek: 0, relayGas: undefined, createdAt: 0, aheadMs: 0, sinceCleanUpMs: 0 };
    const config = configOf({ DATA_DIR: at('vault-data') });
    const toldOf = async (secretMark: string | undefined) =>
      told(await runChecks(storageChecks(config, {}, async () => ({ ...facts, secretMark }))), 'files');
    expect(await toldOf(undefined)).toEqual([]);
    expect(await toldOf('0'.repeat(32))).toEqual([expect.stringContaining('warn VAULT_SECRET is not the one')]);
    expect(await toldOf(markOfSecret(createKeys(config.vaultSecret, config.attestationSigningKey)))).toEqual([]);
  });

  test('that are damaged or of a newer vault fail', async () => {
    await run(['migrate']);
    const path = at('vault-data/vault.db');
    const config = configOf({ DATA_DIR: at('vault-data') });
    const whole = readFileSync(path);
    expect((await runChecks(storageChecks(config))).filter(({ state }) => state === 'fail')).toEqual([]);
    writeFileSync(path, Buffer.from(whole).fill(0xff, 8_192, 16_384));
    expect(told(await runChecks(storageChecks(config)), 'database').join()).toMatch(/^fail /);
    writeFileSync(path, 'no database'.repeat(1_000));
    expect(told(await runChecks(storageChecks(config)), 'database')).toEqual(['fail file is not a database']);
    expect(readdirSync(at('vault-data')).sort()).toEqual(['operator.secret', 'vault.db', 'vault.secret']);
  });

  test('that are large are left out by name, and read with --full', async () => {
    await run(['migrate']);
    const path = at('vault-data/vault.db');
    const config = configOf({ DATA_DIR: at('vault-data') });
    const connection = new Database(path);
    connection.run(`INSERT INTO events (app, channel, type, at, data) WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL
      SELECT n + 1 FROM numbers WHERE n < 500) SELECT 'a', 'c', 't', n, '{}' FROM numbers`);
    const { rootpage } = connection.query(`SELECT rootpage FROM sqlite_schema WHERE name = 'events'`).get() as {
      rootpage: number;
    };
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
    connection.close(true);
    const look = async (extent: object) => told(await runChecks(storageChecks(config, extent)), 'database')[0];
    expect(await look({ rowsMax: 499 })).toMatch(/intact, but events not read \(vault doctor --full\)/);
    expect(await look({ rowsMax: 500 })).toMatch(/intact, journal wal/);
    const [damaged, page] = [readFileSync(path), 4_096];
    writeFileSync(path, damaged.fill(0xff, (rootpage - 1) * page + 12, rootpage * page));
    expect(await look({ rowsMax: 499, isFull: true })).toMatch(/^fail /);
    const { code, out } = await run(['doctor', '--full'], { RPC_URL: NOWHERE });
    expect([code, out]).toEqual([1, expect.stringContaining('✗ database')]);
  });

  test('on a libSQL server are asked for, and a server that is none fails', async () => {
    expect(told(await runChecks(storageChecks(configOf({ DATABASE_URL: NOWHERE }))), 'database')).toEqual([
      'fail The database server does not answer',
    ]);
    if (!libsqlProgram())
      return console.log('There is no libSQL server for this machine: the doctor does not ask one.');
    const server = await startLibsql({ dir: at('server') });
    const vars = { ...SECRETS, DATABASE_URL: server?.url ?? '', RPC_URL: NOWHERE };
    expect(told(await runChecks(storageChecks(readConfig(vars))), 'schema')).toEqual(['warn there are no tables yet']);
    await run(['migrate'], vars);
    const findings = await runChecks(storageChecks(readConfig(vars)));
    expect(findings.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'database ok',
      'database ok',
      'database warn',
      'database warn',
      'schema ok',
    ]);
    expect(told(findings, 'database')).toEqual([
      expect.stringMatching(/^ok the server answers within \d+ ms \(sqld 0\.24\.32\)$/),
      'ok accepts writes',
      'warn a power loss of the server can undo writes that were answered (synchronous=1)',
      'warn three or more vaults that write at once can bring this server to a stop',
    ]);
    await server?.stop();
  });

  test('on a libSQL server that syncs each commit and checkpoints by the clock have nothing to warn of', async () => {
    if (!libsqlProgram()) return;
    const admin = `127.0.0.1:${freePort()}`;
    const more = ['--admin-listen-addr', admin, '--checkpoint-interval-s', '5'];
    const server = await startLibsql({ dir: at('strong'), more });
    const config = `http://${admin}/v1/namespaces/default/config`;
    const given = (await (await fetch(config)).json()) as object;
    const body = JSON.stringify({ ...given, durability_mode: 'strong' });
    expect((await fetch(config, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).ok).toBe(
      true,
    );
    const vars = { ...SECRETS, DATABASE_URL: server?.url ?? '', RPC_URL: NOWHERE };
    await run(['migrate'], vars);
    expect(told(await runChecks(storageChecks(readConfig(vars))), 'database')).toEqual([
      expect.stringContaining('ok the server answers'),
      'ok accepts writes',
      'ok a write that was answered survives a power loss of the server',
    ]);
    await server?.stop();
  });
});

describe('the network', () => {
  const PUBLIC = {
    EMAIL_PROVIDER: 'resend',
    EMAIL_FROM: 'a@example.com',
    RESEND_API_KEY: 're_1',
    SMS_PROVIDER: 'none',
  };
  const check = (vars: Record<string, string>) =>
    runChecks(networkChecks(examinedOf(configOf({ ...PUBLIC, ...vars }))));

  test('is warned about where proxies let clients choose their address', async () => {
    const findings = await check({ TRUSTED_PROXIES: '10.0.0.0/8,128.0.0.0/1', CLIENT_IP_HEADER: 'X-Forwarded-For' });
    expect(told(findings, 'proxies')).toEqual([
      expect.stringContaining('warn clients can write X-Forwarded-For'),
      expect.stringContaining('warn TRUSTED_PROXIES 128.0.0.0/1 is very wide'),
      expect.stringContaining('skipped not tried'),
    ]);
    expect(told(await check({}), 'origin')).toEqual([expect.stringContaining('only this machine can reach')]);
  });

  test('recommends ALLOWED_ORIGINS where APP_ORIGINS is set', async () => {
    const apps = { APP_ORIGINS: `https://app.example,android:apk-key-hash:${'a'.repeat(43)}` };
    const advice = async (vars: Record<string, string>) =>
      told(await check(vars), 'origin').filter((line) => line.includes('POST'));
    expect(await advice({})).toEqual([]);
    expect(await advice(apps)).toEqual([expect.stringContaining('warn pages of any origin may POST')]);
    expect((await check(apps)).find(({ text }) => text.includes('POST'))?.remedy).toContain('https://app.example');
    expect(await advice({ ...apps, ALLOWED_ORIGINS: 'https://app.example' })).toEqual([
      'ok only pages of BASE_URL and ALLOWED_ORIGINS may POST',
    ]);
  });

  test('says who could not sign up at /authorize', async () => {
    const page = {
      ...{ APPS: 'tea', CLIENTS: 'clients.json' },
      REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
      DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
      HYPERAUTH_FACTORY_ADDRESS: `0x${'22'.repeat(20)}`,
    };
    expect(told(await check({}), 'sign-up')).toEqual([]);
    expect(told(await check(page), 'sign-up')).toEqual([
      expect.stringContaining('warn /authorize takes 3 new people behind one address'),
    ]);
    expect(told(await check({ ...page, MAX_REGISTRATIONS_PER_IP: '500' }), 'sign-up')).toEqual([
      'ok /authorize takes 100 new people in a day',
    ]);
    const silent = { MAX_REGISTRATIONS_PER_IP: '500', EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };
    expect(told(await check({ ...page, ...silent }), 'sign-up')).toEqual([
      expect.stringContaining('fail nobody gets a code at /authorize'),
    ]);
  });

  test('says where webhooks would go, and posts none', async () => {
    const webhook = { WEBHOOK_URL: 'https://hooks.example.com/in', WEBHOOK_SECRET: `whsec_${btoa('k'.repeat(32))}` };
    const leadingTo = async (address: string, vars: Record<string, string> = {}) =>
      told(
        await runChecks(
          networkChecks(examinedOf(configOf({ ...webhook, ...vars }), { addressesOf: async () => [address] })),
        ),
        'webhooks',
      );
    expect(await leadingTo('10.0.0.7')).toEqual([
      expect.stringContaining('fail hooks.example.com has only private addresses'),
    ]);
    expect(await leadingTo('10.0.0.7', { WEBHOOK_ALLOW_PRIVATE: 'true' })).toEqual([
      expect.stringContaining('ok hooks.example.com is private, which'),
    ]);
    const mixed = await runChecks(
      networkChecks(examinedOf(configOf(webhook), { addressesOf: async () => ['10.0.0.7', '8.8.8.8'] })),
    );
    expect(told(mixed, 'webhooks')).toEqual([
      expect.stringContaining('warn hooks.example.com has private and public addresses'),
    ]);
    expect(await leadingTo('8.8.8.8')).toEqual(['ok hooks.example.com is public; nothing was posted']);
  });
});
