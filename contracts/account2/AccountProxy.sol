// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The code of a second account
/// @notice A proxy of its own for each account. It calls the implementation in the ERC-1967 slot, or while that slot is
/// zero the one in its own code: creating an account stores nothing. The code ends in the first key and the salt, each a
/// word: x ‖ y ‖ salt. Ether that comes without call data stays here, so 2,300 gas are enough to send it.
///
/// Creation code; what it returns stands behind it. Explorers know a proxy by the event of ERC-1967:
/// ```
/// 00  60 bb 80 60 33 5f 39   size, and the runtime code in memory 0
/// 07  60 36 51 60 60 1c      size first
/// 0d  7f <Upgraded, 32>      size first topic
/// 2e  5f 5f a2               size; emits Upgraded(first)
/// 31  5f f3                  return the runtime code
/// ```
/// Runtime code; the stack is shown with its top on the right, `size` is that of the call data:
/// ```
/// 00  36 60 05 57 00 5b      no call data? stop
/// 06  36 5f 5f 37            copy the call data to memory 0
/// 0a  5f 5f 36 5f            0 0 size 0: what DELEGATECALL writes and reads
/// 0e  7f <slot, 32> 54       0 0 size 0 stored
/// 30  80 60 4a 57            stored? go on at 4a with it
/// 34  50 73 <first, 20>      0 0 size 0 first
/// 4a  5b 5a f4               success
/// 4d  3d 5f 5f 3e            copy what came back to memory 0
/// 51  60 57 57 3d 5f fd      failed? revert with it
/// 57  5b 3d 5f f3            return it
/// 5b  <x, 32> <y, 32> <salt, 32>
/// ```
library AccountProxy {
    /// @dev Bytes of the runtime code, and where the key is in it.
    uint256 internal constant SIZE = 0xbb;
    uint256 internal constant KEY_AT = 0x5b;

    /// @notice The creation code, then the runtime code.
    function creationCode(address first, uint256 x, uint256 y, uint256 salt) internal pure returns (bytes memory) {
        return abi.encodePacked(
            hex"60bb8060335f39" hex"60365160601c",
            hex"7fbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b" hex"5f5fa2" hex"5ff3",
            hex"36600557005b" hex"365f5f37" hex"5f5f365f",
            hex"7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc54" hex"80604a57" hex"5073",
            first,
            hex"5b5af4" hex"3d5f5f3e" hex"6057573d5ffd" hex"5b3d5ff3",
            x,
            y,
            salt
        );
    }
}
