import type { Address } from 'ox/Address';
import { USDC_DOMAINS } from '../../client/usdc.ts';
import * as parse from './parsers.ts';
import { derived, endpoint, plain, type Setting, type Vars } from './setting.ts';
import * as url from './url-parsers.ts';

/**
 * The chains with a known name and public endpoint, and the addresses of their contracts with their checksums, by chain
 * id and setting.
 */
export const CHAINS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  84532: {
    CHAIN_NAME: 'Base Sepolia',
    EXPLORER_URL: 'https://sepolia.basescan.org',
    RPC_URL: 'https://sepolia.base.org',
    ENTRY_POINT_ADDRESS: '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
    DID_REGISTRY_ADDRESS: '0xD38972ffEA26B66F09e2109e650887ACd447E7B7',
    ACCOUNT_HELPER_ADDRESS: '0xd4d57cC363dd419Cd95712Eb5CDdF1797Ceb9DdE',
    SESSION_SBT_ADDRESS: '0x5A2822Bd69Aa3799232AC57DeCf2b07e3FED1881',
    HYPERAUTH_FACTORY_ADDRESS: '0xB797F4799D8aa218E9207F918FDEa3afc76b1E18',
    USDC_ADDRESS: USDC_DOMAINS[84532].address,
  },
  8453: {
    CHAIN_NAME: 'Base',
    EXPLORER_URL: 'https://basescan.org',
    RPC_URL: 'https://mainnet.base.org',
    USDC_ADDRESS: USDC_DOMAINS[8453].address,
  },
};

/** Settings of chain access. A default that depends on the chain is `none` where no contract is known. */
export const CHAIN_SETTINGS = {
  CHAIN_ID: plain('id of the chain that the registry is on', parse.integer(1, Number.MAX_SAFE_INTEGER), '84532'),
  CHAIN_NAME: plain(
    "the chain's display name",
    parse.anyText,
    derived("the chain's name", ({ CHAIN_ID = '' }) => CHAINS[CHAIN_ID]?.['CHAIN_NAME'] ?? `Chain ${CHAIN_ID}`),
    { example: 'Base' },
  ),
  EXPLORER_URL: plain(
    'block explorer that receipts link to, as /tx/<hash> below it, or none',
    url.explorerUrl,
    derived("the chain's, else none", ({ CHAIN_ID = '' }) => CHAINS[CHAIN_ID]?.['EXPLORER_URL'] ?? 'none'),
    { example: 'https://basescan.org' },
  ),
  RPC_URL: endpoint(
    "JSON-RPC endpoint of the chain; may contain a provider's key and is never shown",
    url.httpUrl,
    derived(
      "the chain's public endpoint",
      (vars) => vars[`RPC_URL_${vars['CHAIN_ID']}`] ?? CHAINS[vars['CHAIN_ID'] ?? '']?.['RPC_URL'],
    ),
    {
      example: 'https://base-mainnet.example.com/v2/key',
      remedy: 'set an endpoint of the chain, because no public one is known for this CHAIN_ID',
    },
  ),
  RPC_WITNESS_URL: endpoint(
    'JSON-RPC endpoint of a second node, best by another provider: facts that cost money count where both nodes agree',
    parse.unsetOr(url.httpUrl),
    undefined,
    { example: 'https://rpc.example.org' },
  ),
  RPC_PUBLIC_URL: plain(
    'endpoint that GET /api/status shows',
    url.httpUrl,
    derived('origin of RPC_URL', ({ RPC_URL = '' }) => (URL.canParse(RPC_URL) ? new URL(RPC_URL).origin : undefined)),
    { example: 'https://mainnet.base.org' },
  ),
  RPC_URL_84532: endpoint('JSON-RPC endpoint of Base Sepolia', url.httpUrl, rpcOf('84532'), {
    example: 'https://base-sepolia.example.com/v2/key',
  }),
  RPC_URL_8453: endpoint('JSON-RPC endpoint of Base', url.httpUrl, rpcOf('8453'), {
    example: 'https://base-mainnet.example.com/v2/key',
  }),
  ENTRY_POINT_ADDRESS: contract('ERC-4337 entry point 0.7, 0.8 or 0.9', 'ENTRY_POINT_ADDRESS'),
  DID_REGISTRY_ADDRESS: contract('registry of DIDs', 'DID_REGISTRY_ADDRESS'),
  ACCOUNT_HELPER_ADDRESS: contract('helper that reads accounts', 'ACCOUNT_HELPER_ADDRESS'),
  SESSION_SBT_ADDRESS: contract('session token', 'SESSION_SBT_ADDRESS'),
  REGISTRY_LEGACY_UNTIL: plain(
    'when a second registry opens that follows the first one, in seconds since 1970, as `vault contracts deploy` prints it',
    parse.unsetOr(parse.integer(1, 2 ** 40 - 1)),
    undefined,
    { example: '1798761600' },
  ),
  HYPERAUTH_FACTORY_ADDRESS: contract('account factory', 'HYPERAUTH_FACTORY_ADDRESS'),
  ACCOUNT_FACTORY_2_ADDRESS: plain('factory of accounts of the second kind, or none', url.address, 'none'),
  ACCOUNT_FACTORIES_FORMER: plain(
    'factories of accounts of the second kind that came before: a comma list; their accounts are read, and recovered',
    url.addresses,
    '',
    { example: '0x046C73b4c8625C2245AE31e8d58667c8D5053D19', needs: 'ACCOUNT_FACTORY_2_ADDRESS' },
  ),
  USDC_ADDRESS: contract('USDC token', 'USDC_ADDRESS'),
  PREDICT_LOCALLY: plain(
    "computes addresses of our own factory's accounts, also where it is at no known address",
    parse.boolean,
    'true',
  ),
  LOOKS_PER_MINUTE: plain(
    'accounts a minute at whose registrations the vault looks on-chain again, each of about three requests',
    parse.integer(1, 6_000),
    '120',
  ),
  FINALITY_BLOCKS: plain(
    'depth in blocks at which a block is final; if unset, the `finalized` block of the node decides',
    parse.unsetOr(parse.integer(0, 1_000_000)),
    derived('0 while RPC_URL is loopback', (vars) => (isLoopbackEndpoint(vars) ? '0' : undefined)),
    { example: '12' },
  ),
};

/**
 * Settings of the vault's own follower. By default it uses only an endpoint that the operator set: following costs
 * thousands of requests a day.
 */
export const FOLLOWER_SETTINGS = {
  FOLLOWER: plain(
    "follows the chain's events, for /api/indexer and to link sessions",
    parse.boolean,
    derived('true with a DID_REGISTRY_ADDRESS and an RPC_URL of your own, while INDEXER_URL is unset', (vars) =>
      String(vars['DID_REGISTRY_ADDRESS'] !== 'none' && vars['INDEXER_URL'] === undefined && !isPublicEndpoint(vars)),
    ),
    { example: 'false' },
  ),
  FOLLOWER_START_BLOCK: plain(
    'first block to follow; if unset, the vault searches for the block that deployed the contracts',
    parse.unsetOr(parse.integer(0, Number.MAX_SAFE_INTEGER)),
    undefined,
    { example: '21000000', needs: 'FOLLOWER' },
  ),
  FOLLOWER_POLL_SECONDS: plain(
    'seconds between polls for new blocks, each of about three requests',
    parse.integer(1, 3_600),
    derived('1 while RPC_URL is loopback, else 10', (vars) => (isLoopbackEndpoint(vars) ? '1' : '10')),
    { example: '10', needs: 'FOLLOWER' },
  ),
};

function contract(meaning: string, name: string): Setting<Address | null> {
  const example = CHAINS[84532]?.[name] ?? 'none';
  return plain(
    `${meaning}, or none`,
    url.address,
    derived(`${example} on chain 84532, else none`, ({ CHAIN_ID = '' }) => CHAINS[CHAIN_ID]?.[name] ?? 'none'),
    { example },
  );
}

function isPublicEndpoint({ CHAIN_ID = '', RPC_URL }: Vars): boolean {
  return RPC_URL === CHAINS[CHAIN_ID]?.['RPC_URL'];
}

function isLoopbackEndpoint({ RPC_URL = '' }: Vars): boolean {
  return url.isLoopbackOrigin(RPC_URL);
}

function rpcOf(chainId: string) {
  const from = ({ CHAIN_ID, RPC_URL }: Vars) => (CHAIN_ID === chainId ? RPC_URL : CHAINS[chainId]?.['RPC_URL']);
  return derived(`RPC_URL when CHAIN_ID is ${chainId}, else ${CHAINS[chainId]?.['RPC_URL']}`, from);
}
