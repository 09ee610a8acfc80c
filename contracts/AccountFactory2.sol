// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Account2} from "./Account2.sol";
import {AccountProxy} from "./account2/AccountProxy.sol";

/// @title Creates accounts of the second kind, each at an address that follows from its first key
/// @notice An account is a proxy (`AccountProxy`) with `implementation`, its first P-256 key and a salt in its code, created
/// by CREATE2 (EIP-1014): the address commits to the first key, so an account can be named and paid before it exists.
///
/// Who may do what: anyone creates anyone's account; nobody, the creator included, gains a right over it. There is no
/// owner, nothing can be switched and nothing is stored. What keys an account has later is the account's own matter.
///
/// What cannot be front-run: a creation. By any creator, the same account with the same key is at the same address, and
/// the one who comes second is given it. An operation that creates the account is refused by EntryPoints before 0.9 when
/// another creation came first (AA10): sign it again without the creation.
contract AccountFactory2 {
    /// @notice What every account runs until its owners upgrade it; it holds the EntryPoint that the accounts trust.
    address public immutable implementation;

    /// @param owner the last 20 bytes of keccak256(x ‖ y): a name of the first key in the form of an address, held by nobody
    event AccountCreated(address indexed account, address indexed owner);

    error InvalidPublicKey(uint256 x, uint256 y);
    error CreationFailed();

    constructor(IEntryPoint entryPoint) {
        implementation = address(new Account2(entryPoint));
    }

    /// @notice Creates the account of a key, or returns the one that is there. Anyone.
    /// @param x with `y` a point of P-256, else nobody could ever sign for the account
    /// @param salt tells accounts of one key apart
    function createAccount(uint256 x, uint256 y, uint256 salt) external returns (address account) {
        account = getAddress(x, y, salt);
        if (account.code.length != 0) return account;
        if (!P256.isValidPublicKey(bytes32(x), bytes32(y))) revert InvalidPublicKey(x, y);
        _create(bytes32(salt), AccountProxy.creationCode(implementation, x, y, salt));
        emit AccountCreated(account, address(uint160(uint256(keccak256(abi.encode(x, y))))));
    }

    /// @notice Where the account of a key is or would be. For what is no point of the curve there can never be an account
    /// at the address answered, which is not told apart here: send nothing to it before checking the key.
    function getAddress(uint256 x, uint256 y, uint256 salt) public view returns (address) {
        bytes32 codeHash = keccak256(AccountProxy.creationCode(implementation, x, y, salt));
        return Create2.computeAddress(bytes32(salt), codeHash);
    }

    /// @dev CREATE2 alone. OpenZeppelin's `Create2.deploy` asks for the balance first, which bundlers forbid (ERC-7562).
    function _create(bytes32 salt, bytes memory code) private {
        address account;
        assembly ("memory-safe") {
            account := create2(0, add(code, 0x20), mload(code), salt)
        }
        if (account == address(0)) revert CreationFailed();
    }
}
