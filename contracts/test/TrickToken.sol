// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title For tests: tokens that do not do what they are asked, all in one
contract TrickToken {
    enum Trick {
        None,
        /// Keeps a hundredth, and says so.
        Fee,
        /// Moves nothing, says nothing, and answers true.
        Silent,
        /// Answers false.
        Refusing,
        /// Says that the other party sent it.
        Swapped
    }

    Trick public trick;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function set(Trick to) external {
        trick = to;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (trick == Trick.Silent) return true;
        if (trick == Trick.Refusing) return false;
        uint256 fee = trick == Trick.Fee ? amount / 100 : 0;
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount - fee;
        (address from, address payee) = trick == Trick.Swapped ? (to, msg.sender) : (msg.sender, to);
        emit Transfer(from, payee, amount - fee);
        if (fee > 0) emit Transfer(msg.sender, address(this), fee);
        return true;
    }
}
