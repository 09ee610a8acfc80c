import { FOLLOWER_SETTINGS } from './chain-settings.ts';
import * as parse from './parsers.ts';
import * as secrets from './secret-parsers.ts';
import { endpoint, plain, secret } from './setting.ts';
import * as url from './url-parsers.ts';

/** Bundler, indexer and the receiver of webhooks. */
export const UPSTREAM_SETTINGS = {
  BUNDLER_URL: endpoint(
    "ERC-4337 bundler; may contain a provider's key and is never shown",
    parse.unsetOr(url.httpUrl),
    undefined,
    { example: 'https://bundler.example.com/rpc?key=…' },
  ),
  BUNDLER_EXTRA_METHODS: plain(
    'JSON-RPC methods forwarded in addition to the built-in ones; of sponsors pm_* alone',
    parse.bundlerMethods,
    '',
    { example: 'example_estimateFees', needs: 'BUNDLER_URL' },
  ),
  BUNDLER_SENDERS: plain(
    'whose user operations are sent to the bundler: `any`, or `own`, accounts of the configured factories and of former ones alone',
    parse.oneOf('any', 'own'),
    'any',
    { needs: 'BUNDLER_URL' },
  ),
  SPONSOR_CONTEXT: plain(
    'JSON object that the paymaster gets with every pm_* call, such as {"sponsorshipPolicyId":"…"}',
    parse.unsetOr(parse.jsonObject),
    undefined,
    { example: '{"sponsorshipPolicyId":"sp_1"}', needs: 'BUNDLER_URL' },
  ),
  SPONSOR_CALLS: plain(
    'calls sponsored besides transfers of ether and USDC, the registry, and an account’s keys and recovery: a comma list of `0xaddress`, `0xaddress:0xselector` or `*`',
    parse.addedCalls,
    '',
    { example: '0x036CbD53842c5426634e7929541eC2318f3dCF7e:0xa9059cbb', needs: 'BUNDLER_URL' },
  ),
  INDEXER_URL: endpoint("indexer to use instead of the vault's own follower", parse.unsetOr(url.httpUrl), undefined, {
    example: 'https://indexer.example.com/graphql',
  }),
  ...FOLLOWER_SETTINGS,
  WEBHOOK_URL: endpoint('URL that events are posted to', parse.unsetOr(url.httpUrl), undefined, {
    example: 'https://app.example.com/hooks/vault',
    requires: 'WEBHOOK_SECRET',
  }),
  WEBHOOK_SECRET: secret(
    'keys that sign webhooks (Standard Webhooks: whsec_ and base64), separated by commas, the current one first',
    parse.unsetOr(secrets.webhookSecrets(secrets.WEBHOOK_SECRETS_MAX)),
    undefined,
    { needs: 'WEBHOOK_URL', remedy: secrets.WEBHOOK_SECRET_REMEDY },
  ),
  WEBHOOK_ALLOW_PRIVATE: plain('allows webhooks to private and loopback addresses', parse.boolean, 'false', {
    needs: 'WEBHOOK_URL',
  }),
};
