import { beforeEach, describe, expect, test } from 'bun:test';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import { openPayPages, orderOf, type PayPages, type Person } from '../../support/pay-page/pages.ts';
import { type RecordedVault, SEND } from '../../support/pay-page/vault.ts';

let pages: PayPages;
let vault: RecordedVault;
let person: Person;
beforeEach(async () => {
  pages = await openPayPages();
  ({ vault } = pages);
  person = await pages.person();
});

const open = (more: Readonly<Record<string, unknown>> = {}, total?: unknown) =>
  pages.popup(person.device, { ...orderOf(more), total });
const total = (currency: string, value: string) => ({ label: 'Total', amount: { currency, value } });
/** Nobody pays for the account's gas. */
const noSponsor = () => {
  vault.bundler = (method) =>
    method === 'pm_sponsorUserOperation' ? { error: { code: -32501, message: 'no' } } : undefined;
};
const isUntouched = () => expect([vault.sent, person.device.keyring.asked]).toEqual([[], 0]);

describe('what is shown before approval', () => {
  test('ether: how much, to whom, for what, from which account, on which network, at which fee', async () => {
    const to = '0x52908400098527886E0F7030069857D2E4169EE7';
    const text = await open({ label: 'Two teas', to }, total('ETH', '0.001')).shows('review');
    for (const words of ['Requested by shop.example', 'Pay 0.001 ETH', 'Two teas', person.account, to])
      expect(text).toContain(words);
    for (const words of ['Base Sepolia (84532)', 'Sponsored: you pay nothing', '0.01 ETH, set by the operator'])
      expect(text).toContain(words);
  });

  test('nothing is warned of where the total is what moves', async () => {
    const window = open({}, total('ETH', '0.001'));
    await window.shows('review');
    expect(window.text('warnings')).toBe('');
    const dollars = open({ token: USDC, amount: '1250000' }, total('USD', '1.25'));
    expect(await dollars.shows('review')).toContain('Pay 1.25 USDC');
    expect(dollars.text('warnings')).toBe('');
  });

  test('a total that says less than the amount is warned of, and the amount is what is shown', async () => {
    const text = await open({ token: USDC, amount: '50000000' }, total('USD', '0.50')).shows('review');
    expect(text).toContain('Pay 50 USDC');
    expect(text).toContain('The shop’s total, 0.50 USD, is not what it asks for: 50 USDC.');
  });

  test('a token that calls itself USDC is shown by its address, without the name, and warned of', async () => {
    const fake = '0x00000000000000000000000000000000000fa4e0';
    const balances = new Map([[person.account.toLowerCase(), 9_000_000n]]);
    vault.tokens.set(fake, { symbol: 'USDC', decimals: 6, listed: false, balances });
    const text = await open({ token: fake, amount: '1250000' }, total('USD', '1.25')).shows('review');
    expect(text).toContain('Pay 1.25 units of an unknown token');
    expect(text).toContain(
      `The token at ${fake} is not on the list here. It calls itself “USDC”, but any token can do that.`,
    );
    expect(text).toContain('The amount in its smallest unit: 1250000.');
    expect(text).toContain('The shop’s total, 1.25 USD, cannot be compared with the amount.');
  });

  test('a label cannot turn or hide what stands beside it', async () => {
    const window = open({ label: 'tea\u202e\u200b\nPay 0 ETH<b>' });
    await window.shows('review');
    expect(window.text('label')).toBe('tea Pay 0 ETH<b>');
  });

  test('the button names the host of who asks, and the payee’s address is below the details', async () => {
    const window = open();
    await window.shows('review');
    expect(window.text('approve')).toBe('Pay 0.001 ETH to shop.example');
  });
});

describe('what is signed', () => {
  test('is the transfer that was shown', async () => {
    const window = open({ token: USDC, amount: '1250000', to: `0x${'b0b'.padStart(40, '0')}` });
    await window.press('approve');
    await window.shows('done');
    const { callData = '', sender } = vault.sent[0]?.operation ?? {};
    // execute(USDC, 0, transfer(0x…b0b, 1250000)).
    expect(callData).toStartWith(`0xb61d27f6${USDC.slice(2).toLowerCase().padStart(64, '0')}${'0'.repeat(64)}`);
    expect(callData).toContain(`a9059cbb${'b0b'.padStart(64, '0')}${(1_250_000).toString(16).padStart(64, '0')}`);
    expect(sender?.toLowerCase()).toBe(person.account.toLowerCase());
    expect(window.told.at(-1)?.details).toMatchObject({ account: person.account, token: USDC });
  });

  test('ends with the request, of which the shop may say an earlier end', async () => {
    const { time } = pages;
    for (const [expires, seconds] of [
      [200, 200],
      [86_400, 240],
    ] as const) {
      const started = time.now() / 1000;
      const window = open({ expires: new Date((started + expires) * 1000).toISOString() });
      await window.press('approve');
      await window.shows('done');
      const { operation, end = 0 } = vault.sent.at(-1) ?? {};
      // The first key, and six bytes of seconds, by the chain's clock.
      expect(operation?.['signature']).toStartWith('0x00');
      expect(end).toBeGreaterThan(started + seconds - 5);
      expect(end).toBeLessThanOrEqual(started + seconds);
    }
  });
});

describe('a press', () => {
  test('of a passkey that is refused leads back, and may be made again', async () => {
    const window = open();
    person.device.keyring.isWilling = false;
    await window.press('approve');
    expect(await window.shows('review')).toContain('Your passkey was not used. Nothing was paid.');
    expect(vault.sent).toEqual([]);
    person.device.keyring.isWilling = true;
    await window.press('approve');
    await window.shows('done');
  });

  test('by a script approves nothing', async () => {
    const window = open();
    await window.until('#approve', () => window.canPress('approve'));
    window.document.byId.get('approve')?.onclick?.({ isTrusted: false, preventDefault: () => undefined });
    await pages.minutes(0.1);
    expect(await window.shows('review')).toContain('Pay 0.001 ETH');
    isUntouched();
  });

  test('is taken once the window was looked at for a while: a click meant for another one cannot hit it', async () => {
    const window = open();
    window.look(false);
    await window.shows('review');
    await pages.minutes(1);
    expect(window.canPress('approve')).toBe(false);
    window.look(true);
    await pages.time.leap(500);
    expect(window.canPress('approve')).toBe(false);
    await pages.time.leap(200);
    expect(window.canPress('approve')).toBe(true);
    window.look(false);
    expect(window.canPress('approve')).toBe(false);
  });

  test('after a price that has risen meanwhile shows the new one first', async () => {
    noSponsor();
    const window = open();
    await window.shows('review');
    await pages.minutes(1.1);
    vault.fees = { maxFeePerGas: '0xee6b2800' };
    await window.press('approve');
    expect(await window.shows('review')).toContain('The fee or the balance has changed.');
    isUntouched();
    await window.press('approve');
    await window.shows('done');
  });
});

describe('refused, with nothing to approve', () => {
  test.each([
    ['another chain', { chainId: 1 }, 'Wrong network'],
    ['an amount that is a number', { amount: 5 }, 'the amount is missing or invalid.'],
    ['a wrong checksum', { to: '0x036cbD53842c5426634e7929541eC2318f3dCF7e' }, 'an address is misspelt.'],
    ['an address that is no token', { token: '0x00000000000000000000000000000000000000ff' }, 'Nothing was signed.'],
  ])('%s', async (_, wrong, words) => {
    const window = open(wrong);
    expect(await window.shows('problem')).toContain(words);
    expect([window.canPress('approve'), window.text('review')]).toEqual([false, '']);
    isUntouched();
  });

  test('a transfer that would revert', async () => {
    const reverting = { error: { code: -32521, message: 'execution reverted' } };
    vault.bundler = () => reverting;
    const window = open();
    expect(await window.shows('problem')).toContain('The network refused the payment\nNothing was paid.');
    expect(window.text('problem-detail')).toBe('execution reverted');
    isUntouched();
  });
});

describe('what upstreams say of money', () => {
  /** The gas that costs 0.9 ETH at the operation's price, by the part that is charged in full. */
  const tooMuch = ([operation]: readonly unknown[]) => {
    const { maxFeePerGas } = operation as { readonly maxFeePerGas: string };
    const preVerificationGas = `0x${((9n * 10n ** 17n) / BigInt(maxFeePerGas)).toString(16)}`;
    return { result: { callGasLimit: '0x30d40', verificationGasLimit: '0x927c0', preVerificationGas } };
  };
  const no = { error: { code: -32501, message: 'no' } };

  test("a bundler's preVerificationGas of 0.9 ETH is not signed, in words that name the bound and whose it is", async () => {
    vault.bundler = (method, params) => (method === 'pm_sponsorUserOperation' ? no : tooMuch(params));
    const window = open();
    const text = await window.shows('problem');
    expect(text).toContain('The network fee is too high');
    expect(text).toContain('more than the operator allows here');
    expect(window.text('problem-detail')).toMatch(/^Up to [\d.]+ ETH; the operator of this vault allows 0\.01 ETH\.$/);
    isUntouched();
    // Once the bundler is honest, the same request is paid.
    vault.bundler = undefined;
    await window.press('retry');
    expect(await window.shows('review')).toContain('Pay 0.001 ETH');
  });

  test('without a sponsor the account pays the fee, which is shown before', async () => {
    noSponsor();
    const window = open();
    expect(await window.shows('review')).toMatch(/Network fee\nAt most 0\.00\d+ ETH/);
    await window.press('approve');
    await window.shows('done');
    expect(vault.sent[0]?.operation).not.toHaveProperty('paymaster');
  });

  test("a node's gas price of 2,000 gwei is not signed", async () => {
    noSponsor();
    vault.fees = { maxFeePerGas: '0x1d1a94a2000' };
    expect(await open().shows('problem')).toContain('The network fee is too high');
    isUntouched();
  });

  test('a price or a token that the vault cannot read shows no amount, and can be tried again', async () => {
    for (const path of ['/pay/token', '/pay/fees', '/api/accounts/state']) {
      vault.away = [path];
      const window = open({ token: USDC, amount: '50000000' });
      const text = await window.shows('problem');
      expect(text).toContain('The network cannot be reached');
      expect(text).not.toContain('0.00005');
      vault.away = [];
      await window.press('retry');
      expect(await window.shows('review')).toContain('Pay 50 USDC');
    }
    isUntouched();
  });

  test('a bundler that is down before approval: said so, and tried again', async () => {
    vault.bundler = (method) => (method === SEND ? undefined : 'lost');
    const window = open();
    expect(await window.shows('problem')).toContain('The network cannot be reached');
    vault.bundler = undefined;
    await window.press('retry');
    await window.press('approve');
    await window.shows('done');
  });
});
