/** A factory of this project's accounts, their kind, and the implementation that they begin with. */
export interface AccountFactory {
  readonly kind: 1 | 2;
  readonly factory: string;
  readonly implementation: string;
}

/** The accounts of a kind that trust an EntryPoint; EIP-55. */
export interface KnownAccounts extends AccountFactory {
  readonly entryPoint: string;
}

/** ERC-4337's EntryPoints 0.7, 0.8 and 0.9; each is at the same address on every chain that has it. */
export const KNOWN_ENTRY_POINTS = [
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
] as const;

const [V07, V08, V09] = KNOWN_ENTRY_POINTS;

/**
 * The accounts for those EntryPoints. A factory is at the CREATE2 address of its code by the deterministic deployment
 * proxy, so it is the same on every chain, and its implementation is the first contract that it creates: no node needs
 * to be asked. `contracts/AccountFactory.sol` and `AccountFactory2.sol`.
 */
export const KNOWN_ACCOUNTS: readonly KnownAccounts[] = [
  known(V07, 1, '0x981fAD5B1D43C4e5F5F523392c7679f721D25c85', '0x9bA32442217BE1c39709eACC4FE1d66e96960598'),
  known(V07, 2, '0x8Cd7Aa46E3c813FcBE92E21bf047bb5F2cd0e153', '0xbc9EA22156dF402209cefb3Aab99e9E4A81eEd68'),
  known(V08, 1, '0xe18DF5088787f9ABC901D16556b3d2AF117b52F4', '0x4F01Ee333C7724b9f31C2104882418016A7059fB'),
  known(V08, 2, '0x2b54a93c157261DcB605b0110F78700f8E198331', '0x748171CE7A59f9859da8e9182Dc2aA790643748a'),
  known(V09, 1, '0x6f69b1189CA9AabA8a36eb90d0D732bb80935fd4', '0xeeb350cF324a434B8aCcEA2cc9B7791CB3ED3848'),
  known(V09, 2, '0x7C4E2B0FDf37038512408D8211eC29072a925513', '0x07449229200205c935881D34A92655fdb3d89BC3'),
];

function known(entryPoint: string, kind: 1 | 2, factory: string, implementation: string): KnownAccounts {
  return { entryPoint, kind, factory, implementation };
}

/**
 * The accounts' code before and after the implementation's address; the first key and the salt follow, x ‖ y ‖ salt.
 * The first kind is an ERC-1167 clone. The second, of `contracts/AccountFactory2.sol`, asks the ERC-1967 slot first,
 * where owners put another implementation.
 */
export const PROXY_CODES = {
  1: ['363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'],
  2: [
    '36600557005b365f5f375f5f365f7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc5480604a575073',
    '5b5af43d5f5f3e6057573d5ffd5b3d5ff3',
  ],
} as const;

/** x ‖ y ‖ salt. */
const KEY_DIGITS = 3 * 64;

/** The factory whose accounts have this code, as far as it was not upgraded, and its key and salt, 192 digits. */
export function accountOfCode(
  code: string,
  factories: readonly AccountFactory[],
): { readonly factory: AccountFactory; readonly key: string } | undefined {
  const given = code.toLowerCase();
  const factory = factories.find((one) => {
    const proxy = `0x${proxyOf(one)}`;
    return given.startsWith(proxy) && given.length === proxy.length + KEY_DIGITS;
  });
  return factory && { factory, key: given.slice(-KEY_DIGITS) };
}

/** The code of a factory's accounts, without 0x, up to the key. */
export function proxyOf({ kind, implementation }: AccountFactory): string {
  const [head, tail] = PROXY_CODES[kind];
  return `${head}${implementation.slice(2).toLowerCase()}${tail}`;
}

/** Where ERC-1967 puts an implementation. */
export const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
/** keccak256 of `Upgraded(address)`, which is emitted when it changes. */
export const UPGRADED_EVENT = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';

/** Whether a word of that slot leaves an account of the second kind as a factory made it. */
export function isOwnImplementation(word: string, factories: readonly AccountFactory[]): boolean {
  if (BigInt(word) === 0n) return true;
  return factories.some(({ kind, implementation }) => kind === 2 && BigInt(implementation) === BigInt(word));
}
