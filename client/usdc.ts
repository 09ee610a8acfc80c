/** USDC on a chain: its contract (EIP-55), and what its EIP-712 domain says beside chain and contract. */
export interface UsdcDomain {
  readonly address: `0x${string}`;
  readonly name: string;
  readonly version: string;
}

/** USDC of the chains that the vault knows, by chain id. The name is the contract's own, and differs between them. */
export const USDC_DOMAINS = {
  84532: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' },
  8453: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin', version: '2' },
} as const satisfies Readonly<Record<number, UsdcDomain>>;

/** Undefined for a chain whose USDC is not known. */
export function usdcDomainOf(chainId: number): UsdcDomain | undefined {
  return (USDC_DOMAINS as Readonly<Record<number, UsdcDomain>>)[chainId];
}
