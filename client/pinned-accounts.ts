// The vault's accounts, which follow from their code: see docs/contracts.md.

/** A factory of the vault's accounts, by its kind, and the implementation that its accounts begin with. */
export interface AccountFactory {
  readonly kind: 1 | 2;
  readonly factory: string;
  readonly implementation: string;
}

/** ERC-4337's EntryPoints 0.7, 0.8 and 0.9, at the same addresses on every chain. */
export const ENTRY_POINTS = [
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
] as const;

/** The factories of both kinds for each of these EntryPoints, where `vault contracts` deploys them on every chain. */
export const ACCOUNT_FACTORIES: readonly AccountFactory[] = [
  of(1, '0x981fAD5B1D43C4e5F5F523392c7679f721D25c85', '0x9ba32442217be1c39709eacc4fe1d66e96960598'),
  of(2, '0x046C73b4c8625C2245AE31e8d58667c8D5053D19', '0x500bcf0de901af15589a2fd3ae0a4c697011fff5'),
  of(1, '0xe18DF5088787f9ABC901D16556b3d2AF117b52F4', '0x4f01ee333c7724b9f31c2104882418016a7059fb'),
  of(2, '0xf96c0d8A77F8f09689Cf085Dd5C8E56690011C14', '0x411e3e343f7355916c39c336cf588051b1084289'),
  of(1, '0x6f69b1189CA9AabA8a36eb90d0D732bb80935fd4', '0xeeb350cf324a434b8accea2cc9b7791cb3ed3848'),
  of(2, '0xdEB6ceC4B6F0b1F85a8c79e8BC88Bd77bfD8Ab21', '0x15e3aa243aa3b39b99b7c2246338f69c28aac632'),
];

function of(kind: 1 | 2, factory: string, implementation: string): AccountFactory {
  return { kind, factory, implementation };
}
