create database :name
