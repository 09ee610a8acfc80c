/** The payment handler (W3C Payment Handler API, Payment Method Manifest): its discovery, and the data of its pages. */

import { badRequest, VaultError } from '../lib/base/error.ts';
import { readPrice } from '../lib/bundler/price.ts';
import { readTimedBlock, type TimedBlock } from '../lib/chain/blocks.ts';
import { toQuantity } from '../lib/chain/contract-call.ts';
import { nextBlockTime } from '../lib/chain/next-block-time.ts';
import { readP256Precompile } from '../lib/chain/p256.ts';
import { readDeposit, readPayBalance, readToken } from '../lib/chain/tokens.ts';
import { DEFAULT_APP } from '../lib/events/catalogue.ts';
import { rpIdOf } from '../lib/identity/ceremony.ts';
import { checkOrder, receiptOfHints } from '../lib/payments/check-order.ts';
import { webAppManifest } from '../lib/payments/manifest.ts';
import { type Movement, readOutcome } from '../lib/payments/outcome.ts';
import { recordFound } from '../lib/payments/record.ts';
import {
  Fees,
  MethodManifest,
  PayConfig,
  PaymentMethod,
  PaymentOutcome,
  PaymentVerdict,
  Token,
} from './answers/pay.ts';
import {
  addressText,
  amountText,
  byAuthorization,
  chainIdText,
  hashText,
  nonceHex,
  originText,
  pageApp,
  priceText,
  secondsText,
  sinceText,
  tokenName,
} from './fields.ts';
import { optional, required, textField } from './http/fields.ts';
import { MANIFEST_PAGE_HEADERS, PAGE_HEADERS, withOpener } from './http/page.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';
import { file } from './http/static-file.ts';

/** Chromium takes a handler's manifest from exactly one `Link` on the final answer to the method identifier. */
const LINK = { link: '</pay/method-manifest.json>; rel="payment-method-manifest"' };

/** Manifests change with `BASE_URL` and the brand. */
const MANIFEST_CACHE = { 'cache-control': 'public, max-age=3600' };
const ICON_CACHE = { 'cache-control': 'public, max-age=86400' };
const ICON_SIZES = [48, 192, 512] as const;

/** The most that one operation of /pay or /account may cost in network fees, in wei: 0.01 ether. More is not signed. */
const PAY_FEE_MAX_WEI = 10n ** 16n;

/** For the confirm page's own files. Never on `/pay`: browsers fetch it from the shop's origin, without CORS. */
const OWN = { 'cross-origin-resource-policy': 'same-origin' };

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const IDENTIFIER = {
  asset: '/pay/index.html',
  type: HTML,
  summary: 'The identifier of the payment method',
  headers: { ...MANIFEST_PAGE_HEADERS, ...LINK },
};
const CONFIRM = {
  asset: '/pay/confirm.html',
  type: HTML,
  summary: 'The page that pays',
  headers: { ...PAGE_HEADERS, ...OWN },
};

/** Everything under `/pay`, and the icons. */
export const payRoutes = [
  file('/pay', IDENTIFIER),
  file('/pay/', IDENTIFIER),

  get('/pay/method-manifest.json', {
    summary: 'The W3C payment method manifest',
    answers: { 200: MethodManifest },
    isPage: true,
    handler({ ctx: { config } }) {
      const { baseUrl } = config;
      const manifest = { default_applications: [`${baseUrl}/pay/manifest.json`], supported_origins: [baseUrl] };
      return json(manifest, { headers: MANIFEST_CACHE });
    },
  }),

  // The specification's own shape. Browsers want a list of URLs, and are led on to one by the Link.
  get('/pay/payment-method.json', {
    summary: 'The payment method in the form of the specification',
    answers: { 200: PaymentMethod },
    isPage: true,
    handler: () =>
      json(
        { default_applications: [{ platform: 'webapp', manifest_url: '/pay/manifest.json' }] },
        { headers: { ...MANIFEST_CACHE, ...LINK } },
      ),
  }),

  get('/pay/manifest.json', {
    summary: 'The web app manifest of the payment handler',
    answers: { 200: { media: 'application/manifest+json', about: 'Name, icons, worker' } },
    isPage: true,
    handler({ ctx: { brandOf, config } }) {
      const manifest = webAppManifest(brandOf(DEFAULT_APP).name, new URL(config.baseUrl).host, ICON_SIZES);
      return json(manifest, { headers: { ...MANIFEST_CACHE, 'content-type': 'application/manifest+json' } });
    },
  }),

  file('/pay/sw.js', {
    type: SCRIPT,
    headers: { 'service-worker-allowed': '/pay/', 'content-security-policy': "default-src 'none'" },
  }),
  withOpener(file('/pay/confirm', CONFIRM)),
  file('/pay/confirm.js', { type: SCRIPT, headers: OWN }),
  file('/pay/setup.js', { type: SCRIPT, headers: OWN }),
  file('/pay/about.js', { type: SCRIPT, headers: OWN }),
  file('/pay/confirm.css', { type: 'text/css; charset=utf-8', headers: OWN }),

  ...ICON_SIZES.map((size) => file(`/icons/vault-${size}.png`, { type: 'image/png', headers: ICON_CACHE })),
  file('/icons/vault.svg', {
    type: 'image/svg+xml',
    headers: { ...ICON_CACHE, 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
  }),

  get('/pay/config', {
    summary: 'The configuration of the payment pages',
    answers: { 200: PayConfig },
    fields: { app: optional(pageApp) },
    handler({ ctx: { config, brandOf }, app, input }) {
      const { baseUrl, chainId, chainName, entryPointAddress, usdcAddress, explorerUrl: explorer } = config;
      const relyingParty = { rpId: rpIdOf(config), rpName: brandOf(input.app ?? app).name, origin: baseUrl };
      const factories = { factory: config.hyperauthFactoryAddress, factory2: config.accountFactory2Address };
      const chain = { chainId, chain: chainName, entryPoint: entryPointAddress, ...factories, usdc: usdcAddress };
      return json({ ...relyingParty, ...chain, explorer, feeMax: String(PAY_FEE_MAX_WEI) });
    },
  }),

  get('/pay/token', {
    summary: "A token, as its contract says, and an account's balance of it",
    answers: { 200: Token },
    errors: ['rpc_error'],
    example: { token: 'native' },
    limit: 'proxy',
    fields: { token: required(tokenName), account: optional(addressText('account')) },
    async handler({ ctx, input }) {
      const token = await readToken(ctx, input.token);
      const { symbol, decimals, isListed: listed } = token;
      const about = { token: input.token, symbol, decimals, listed };
      if (input.account === undefined) return json(about);
      const balance = String(await readPayBalance(ctx, token, input.account));
      if (token.contract !== undefined) return json({ ...about, balance });
      return json({ ...about, balance, deposit: String(await readDeposit(ctx, input.account)) });
    },
  }),

  get('/pay/fees', {
    summary: 'Fees to offer for a user operation',
    answers: { 200: Fees },
    errors: ['rpc_error'],
    limit: 'proxy',
    async handler({ ctx }) {
      const [fees, block, p256] = await Promise.all([
        readPrice(ctx),
        readTimedBlock(ctx, 'latest'),
        readP256Precompile(ctx),
      ]);
      if (!fees) throw new VaultError('rpc_error');
      const offered = { maxFeePerGas: toQuantity(fees.maxFee), maxPriorityFeePerGas: toQuantity(fees.tip) };
      return json({ ...offered, time: nextBlockTime(ctx, block.time), block: block.number, p256 });
    },
  }),

  get('/pay/outcome', {
    summary: "The chain's state of one nonce of an account",
    answers: { 200: PaymentOutcome },
    errors: ['rpc_error'],
    limit: 'proxy',
    fields: {
      account: required(addressText('account')),
      nonce: required(nonceHex),
      since: optional(sinceText),
      to: optional(addressText('to')),
      token: optional(tokenName),
      amount: optional(amountText),
      hint: optional(hashText('hint')),
    },
    async handler({ ctx, app, client, input: { account, nonce, since, hint, ...terms } }) {
      const { chainId, entryPointAddress: entryPoint } = ctx.config;
      const query = { account, nonce, since, hint, movement: movementOf(terms) };
      const { head, final, ...found } = await readOutcome(ctx, query);
      if (found.operation) await recordFound(ctx, query, found.operation, { app, client });
      return json({ chainId, entryPoint, head: shown(head), final: final && shown(final), ...found });
    },
  }),

  get('/pay/verify', {
    summary: 'Whether an order was paid',
    answers: { 200: PaymentVerdict },
    errors: ['rpc_error'],
    example: {
      ...{ id: 'order-7', token: 'native' },
      ...{ userOpHash: '$USER_OP_HASH', txHash: '$TX_HASH', account: '$ACCOUNT' },
    },
    limit: 'proxy',
    fields: {
      origin: required(originText('origin')),
      frame: optional(originText('frame')),
      id: required(textField('id')),
      to: required(addressText('to')),
      token: required(tokenName),
      amount: required(priceText),
      chainId: required(chainIdText),
      since: optional(secondsText('since')),
      by: optional(byAuthorization),
      userOpHash: optional(hashText('userOpHash')),
      txHash: optional(hashText('txHash')),
      account: optional(addressText('account')),
    },
    async handler({ ctx, input: { by, userOpHash, txHash, account, ...order } }) {
      const { chainId } = ctx.config;
      if (order.chainId !== chainId) throw badRequest(`Invalid chainId: this vault is on chain ${chainId}`);
      return json(await checkOrder(ctx, receiptOfHints({ by, userOpHash, txHash, account }), order));
    },
  }),
] as const satisfies readonly Route[];

type Terms = { readonly [Name in keyof Movement]: Movement[Name] | undefined };

const shown = ({ number, time }: TimedBlock) => ({ number, time });

/** The movement that a payment must make; undefined where no part of it is named. */
function movementOf({ to, token, amount }: Terms): Movement | undefined {
  if (to !== undefined && token !== undefined && amount !== undefined) return { to, token, amount };
  if (to === undefined && token === undefined && amount === undefined) return undefined;
  const missing = Object.entries({ to, token, amount }).filter(([, value]) => value === undefined);
  const names = missing.map(([name]) => name).join(', ');
  throw badRequest('Missing query parameters: to, token, amount', `Missing or empty: ${names}.`);
}
